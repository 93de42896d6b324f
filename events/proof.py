from packaging.version import Version

assert Version("1.0.post1") > Version("1.0")
