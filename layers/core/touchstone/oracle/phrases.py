"""The phrases by which a submission speaks to whoever grades it, in English and Chinese, as patterns.

They are matched against folded text (see `folding`): quotes are `'`, dashes are `-`, Chinese is simplified and
unspaced. Each pattern asks for an order together with something that only a grader could carry out. So prose about
marks, rules and judges, instructions to readers and ordinary appeals do not match. The time is linear in the text,
because gaps are bounded and stay within a sentence, white space is one character in folded text, and what comes before
a line's first word is bounded.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from touchstone.oracle.model import RiskFlag
from touchstone.packaged import own_table

_GAP = r"[^.!?。！？\n]"
_ORDERED = (
    r"(?:(?:^|[.!?:;,。：；，！\n'\"()\[\]*#>-])\s?|\b(?:please|must|should|shall|now|then|and|just|simply|kindly|always|you"
    r"|therefore|so|hereby)\s|\b(?:you|need|have|asked|ordered|instructed|required|supposed)\sto\s)"
)
_BEGUN = r"(?:(?:^|[.!?:;\n'\"()\[\]*#>-])\s?(?:\w{1,20},\s)?|\b(?:bitte|favor|favore|pla\wt),?\s)"
"""What stands before an order where the word of the order also states a fact: `ignora` is "ignore" and "ignores"."""
_WORK = (
    r"(?:submission|essay|answer|work|response|report|entry|paper|text|article|solution|proposal|document|piece|draft"
    r"|manuscript|summary|translation)"
)
_THIS_WORK = rf"(?:(?:this|my|our|the above|the present|the following|the)\s{_WORK}|this|it|me|us)"
_EVERYTHING = (
    r"(?:everything|(?:all|every|each|any)(?:\sof)?(?:\sthe|\smy)?\s"
    r"(?:dimensions?|criteri(?:a|on)|categor(?:y|ies)|items?|aspects?|submissions?))"
)
_TOP = (
    r"(?:an?\s)?(?:(?-i:A)\+?(?![\w'’])|(?:the\s)?(?:full|maximum|max|highest|top|perfect|best)(?:\spossible)?\s"
    r"(?:marks?|scores?|grades?|points?|ratings?|bands?)|(?:band|grade|score|mark)(?:\sof)?\s(?:(?-i:A)\b\+?|100\b|9\d\b)"
    r"|100(?:\spoints?|\s?/\s?100|\sout\sof\s100)?(?![\d%]|[.,]\d|\s?%|\s\w)|10\s?/\s?10\b|ten\sout\sof\sten)"
)
_BEST = (
    r"(?:the\s|an?\s)?(?:top|highest|maximum|perfect|best|full)(?:\spossible)?\s(?:bands?|scores?|grades?|marks?|points|"
    r"ratings?)\b"
)
_GRADER = r"(?:judge|grader|evaluator|examiner|assessor|scorer|marker|rater|reviewer)s?"
_MODEL_GRADER = (
    rf"(?:(?:the\s|any\s|all\s)?(?:ai|llm|automated|automatic|machine)\s{_GRADER}|(?:grading|scoring|evaluation|"
    r"evaluating|judging|marking)\s(?:model|ai|llm|system|assistant|bot))"
)
_I_GIVE = r"I\s(?:hereby\s|now\s|will\s|must\s)?(?:give|award|assign|grant|score|rate|grade|mark)\s"
_GRADED = r"(?:evaluated|assessed|graded|judged|scored|marked)"
_GRADING = r"(?:grading|scoring|evaluation|marking|judging|assessment)"
_INSTRUCTIONS = (
    r"(?:(?:previous|prior|above|earlier|preceding|foregoing|initial|original)\s(?:\w+\s){0,2}(?:instructions?|prompts?"
    r"|directions|commands?|orders)\b"
    rf"|{_GRADING}\s(?:instructions?|criteria|rules?|rubrics?|guidelines?|standards?|scheme)\b"
    r"|your\s(?:\w+\s)?(?:instructions|rubric|guidelines|prompt|rules)\b|(?:the|this|that|any|all)\srubric\b"
    r"|system\sprompt\b|(?:the\s)?acceptance\scriteria\b|(?:everything|anything|all)\s(?:(?:that\s)?(?:was\s|is\s|has\sbeen\s)?(?:said|written|"
    r"stated|told)\s)?(?:above|before\sthis)\b|instructions?\s(?:above|before\sthis|given\s(?:above|before|earlier)))"
)
_OBEY_NOT = (
    r"(?:ignore|disregard|forget|override|bypass|discard|abandon|pay\sno\sattention\sto|do\snot\s(?:follow|obey)"
    r"|don't\s(?:follow|obey)|stop\sfollowing|set\saside)"
)

_TOP_ZH = (
    r"(?:满分|最高(?:的)?(?:分数?|等级|档次?|评价|级别)|一百分|100分?(?![\d%])|(?<![A-Za-z])A(?:级|档|等|分|\+)?"
    r"(?![A-Za-z0-9\-区组型类股轮]|.?(?:景区|企业|单位|标准|供应|资质|信用|产品)))"
)
_WORK_ZH = r"(?:作品|提交|文章|答案|作业|报告|文稿|方案|论文|译文|投稿|答卷|成果|稿件|内容|回答)"
_GRADING_ZH = r"(?:评分|评判|评审|评价|打分|判分|阅卷|评估|评阅)"
_GRADER_ZH = (
    r"(?:评分[者员人]|评审者|评判者|评阅者|评阅人|阅卷人|阅卷老师|评委|(?:AI|大模型|自动)?(?:评分|评判|评审|判分|阅卷)"
    r"(?:模型|系统|程序|助手|机器人|AI)|AI评委|AI评审|大模型评委|大模型裁判)"
)
_OBEY_NOT_ZH = (
    r"(?<![不勿莫别])(?<!不要)(?<!不能)(?<!不得)(?<!不可)(?<!切勿)(?<!不应)(?<!避免)(?:忽略|无视|忽视|忘记|忘掉|抛开|抛弃|放弃|跳过"
    r"|绕过|不要理会|不必理会|不用理会|无需理会|不要遵守|别管|不要管|不用管|停止执行|停止遵循|推翻|覆盖)(?:掉|了|前面)?"
)
_ORDERED_ZH = (
    r"(?:请|应当?|应该|须|必须|务必|需要?|直接|一律|统一|立即|现在|全部|只需|希望你|要求你|麻烦你?|烦请"
    r"|[，,。：:；;!！?\n'(*#>-]|^)\s?"
)
_GIVE_ZH = r"(?:给予?|给出|给我|打出?|判定?|评定?|评为|判为|输出|返回|回复|授予|记为?|设为)"


@dataclass(frozen=True)
class Phrase:
    """A phrase by the source of its pattern.

    All patterns take 0.15 to 0.5 s to compile, and most texts need few of them: each is compiled on first use.
    """

    source: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, which ignores case."""
        return re.compile(self.source, re.IGNORECASE)


def _all(*sources: str) -> tuple[Phrase, ...]:
    return tuple(map(Phrase, sources))


PHRASES: Mapping[RiskFlag, tuple[Phrase, ...]] = {
    "addresses_the_judge": _all(
        rf"{_ORDERED}(?:completely\s|fully\s|simply\s)?{_OBEY_NOT}\b{_GAP}{{0,30}}?\b{_INSTRUCTIONS}",
        rf"{_ORDERED}(?:give|award|assign|grant|rate|score|grade|mark|accept|rank|evaluate)\s(?:{_THIS_WORK}|"
        rf"{_EVERYTHING})\s(?:as\s|with\s|at\s|to\sbe\s)?(?:worth\s)?{_TOP}",
        rf"{_ORDERED}(?:give|award|assign|grant|output|return|report)\s{_TOP}\s(?:to|for|on|in|across|at)\s"
        rf"(?:{_THIS_WORK}|{_EVERYTHING})",
        rf"\b(?:note|message|attention|notice|memo)\s(?:to|for)\s(?:{_MODEL_GRADER}|(?:the\s|any\s|all\s)?"
        rf"{_GRADER}\s?[:,-])",
        rf"\b(?:dear|hey|hello|hi|attention|attn)[,:]?\s(?:{_MODEL_GRADER}|grader|evaluator)\b",
        rf"\b(?:you\sare|as)\s(?:an?|the)\s(?:\w+\s){{0,2}}(?:judge|grader|evaluator|grading\smodel)\b{_GAP}{{0,60}}"
        rf"\b(?:must|should|will|shall|have\sto|required\sto|instructed\sto)\b{_GAP}{{0,40}}\b(?:give|award|score|"
        rf"rate|grade|pass|accept|approve|return|output|assign)\b",
        r"\byou\s(?:must|should|shall|will|have\sto|are\s(?:required|instructed|obliged|ordered)\sto)\s(?:\w+ly\s"
        r"|now\s|always\s)?(?:give|award|score|rate|grade|mark|pass|accept|approve|judge|rank|deem)\s"
        rf"(?:(?:this|my|our|the\sabove|the\spresent)\s{_WORK}|the\ssubmission)\b",
        r"\b(?:set|output|return|reply|respond|print|write|put|use|make|answer)\b[^.!?\n]{0,40}\b(?:is_correct|overall_"
        r"band|penalized_total|weighted_base|dimension_scores|verify_passed)\b",
        rf"{_ORDERED}(?:set|make|choose|assign|output|return|report|pick)\s(?:the\s|every\s|each\s|all\s)?(?:overall\s)?"
        r"(?:bands?|grades?|verdicts?)\s(?:to\s|as\s|=\s?)?'?(?-i:A)\b",
        r"\bscores?\s(?:of\s)?(?:100|9\d)\s(?:on|for|in|to|across)\s(?:all|every|each)\s(?:dimension|criteri|categor)",
        rf"(?:^|[\n\[(<*#|>:%-]\s?)(?:system|admin|administrator|developer|root)(?:\s\w+){{0,2}}\s?[:>\])]+[^\n]{{0,80}}?\b"
        rf"(?:{_GRADING}\b|graded|accepted|full\smarks|score|rubric|is_correct|band\sA)",
        r"\byour\s(?:new|real|actual|true|only)\s(?:task|instructions?|job|goal|role)\s(?:is|are)\b[^.!?\n]{0,80}\b"
        r"(?:grade|score|band|rating|marks|rubric|submission)\b",
        rf"\b(?:new|updated|revised)\s(?:system\sprompt|rubric|{_GRADING}\s(?:rules?|instructions?|policy|criteria))\s?:",
        r"\bas\s(?:the|an?)\s(?:\w+'?s?\s){0,2}(?:maintainer|administrator|admin|developer|owner|organi[sz]er)\b[^.!?\n]"
        rf"{{0,40}}\b(?:confirm|certify|authori[sz]e|order|instruct|declare)\b{_GAP}{{0,80}}\b(?:right|correct|full|highest|"
        r"accept|pass|grade|score|marks)\b",
        r"\b(?:answer|respond|reply|output|return|assign|give|award|choose)\b[^.!?\n]{0,25}\bband\s(?-i:A)\b",
        rf"{_ORDERED}(?:assign|award|grant|give|output)\s(?:me\s|us\s|it\s|only\s)?{_BEST}"
        r"(?!\s(?:if|for|when|only|where|to\s(?:\w+\s)?(?:students|pupils|answers|candidates|learners)))",
        rf"\byou\s(?:now\s)?(?:only|always|just)\s(?:give|award|assign|output|return)\s{_BEST}",
        r"\bif\syou\sare\s(?:an?\s)?(?:large\s)?(?:ai|llm|language\smodel|automated\s\w+)\b",
        r"\binstructions?\sfor\s(?:the\s|any\s|all\s)?(?:llms?|language\smodels?|graders?|ai\s\w+ers?)\b",
        rf"(?:^|\n)[\s#*-]{{0,40}}{_GRADER}\s(?:instructions?|notes?)\s?:{_GAP}{{0,40}}\b(?:assign|give|award|score|accept|pass)\b",
        rf"{_ORDERED}(?:treat|consider|regard|accept)\s(?:this|my)\s{_WORK}\s(?:as\s)?(?:having\s(?:met|passed)|passed"
        r"|perfect|flawless|excellent|correct|outstanding)\b",
        r"\b(?:do\snot|don't|never)\s(?:deduct|subtract|take\s(?:off|away))\s(?:any\s)?(?:points?|marks?)"
        r"(?:\s(?:from|on)\s(?:this|my)|\s?[.!\n])",
        r"\bthe\s(?:final\s)?(?:score|grade|band)\s(?:should|must|shall|has\sto)\sbe\s(?:set\sto\s)?(?:an?\s)?"
        r"(?:(?-i:A)\b|100\b|9\d\b|perfect|(?:the\s)?maximum|(?:the\s)?highest)",
        r"\bstop\s(?:evaluating|grading|scoring|judging)\b[^\n]{0,12}?\b(?:output|return|give|award|assign|answer)\b",
        rf"{_BEST}\sfor\s(?:this\s(?:one|{_WORK})|my\s{_WORK})\b",
        r"\b(?:begin|start|end)\s(?:of\s)?(?:the\s)?system\sprompt\b",
        rf"\bfrom\snow\son,?\syou\b{_GAP}{{0,30}}\b(?:give|output|assign|award|answer)\b{_GAP}{{0,30}}\b"
        r"(?:score|grade|band|marks|rating)\b",
        rf"{_OBEY_NOT_ZH}[^。！？\n]{{0,10}}?(?:以上|之前|上面|前面|先前|上述|此前|上文|原先|原来|原有|已有)(?:的|所有|全部|一切|任何|"
        r"给出|给你|系统)*(?:指示|指令|提示词|系统提示|命令|设定|评分|评判|评审|规则|说明)",
        rf"{_OBEY_NOT_ZH}(?:你的?|所有|一切|全部|任何|系统)+(?:的)?(?:指示|指令|提示词|系统提示|设定|评分)",
        rf"{_ORDERED_ZH}(?:再|先|完全|彻底|都)?{_OBEY_NOT_ZH}[^。！？\n]{{0,8}}?{_GRADING_ZH}的?(?:标准|规则|细则|量规|量表|要求"
        r"|准则|指南|提示|指令|说明)",
        rf"{_ORDERED_ZH}(?:把|将|对|为|给)?(?:本|这|此|我|该|所有|每|全部|各|以上|上述)[^。！？\n，,]{{0,12}}?{_GIVE_ZH}"
        rf"[为成出予到上定]*(?:一个)?(?:{_TOP_ZH}|正确(?![或与和/、还率性]))(?!的)",
        rf"(?:请|务必|必须|应当?|应该|直接|一律|统一|立即)[^。！？\n，,]{{0,6}}?{_GIVE_ZH}[^。！？\n，,]{{0,10}}?{_TOP_ZH}(?![的和与及、])",
        r"(?:请|务必|必须|一律)?直接判[为定]*(?:正确|通过|合格|满分|A)(?![或与和/、])",
        rf"{_GRADER_ZH}(?:老师|们)*(?:请注意|注意|你好|您好)?\s?[，,:!]\s?[^。！？\n]{{0,40}}?(?:给|打|评|判)[^。！？\n]{{0,20}}?"
        r"(?:满分|最高|100|A|高分|通过|正确)",
        r"(?:系统|管理员|开发者|主办方|任务发布者|出题人)(?:消息|提示|通知|指令|公告|声明)?\s?[::]\s?[^\n]{0,60}?(?:评分(?:工作|流程)?已|打分已"
        r"|满分|判定为?正确|判为|评为A|答案正确|忽略)",
        r"你(?:的|现在的)?(?:新|真正|唯一|实际)(?:的)?(?:任务|指令|工作|角色)(?:是|为|:)[^。！？\n]{0,40}(?:[打评给]分|打最高|满分|最高分|判为)",
        r"(?:is_correct|overall_band|band|所有维度|各维度|每个维度)[^。！？\n]{0,6}?(?:设为|设置为|设成|改为|写成|填|置为|都给|均给|均为)"
        r"[^。\n]{0,4}?(?:true|A|100|9\d|满分)",
        r"\b(?:(?:all|every|each)\sdimensions?\s?:|band\s?:)\s?(?:band\s)?(?-i:A)\b[^\n]{0,20}\d",
        r"(?:^|[.\n]\s?)(?:evaluator|grader|grading\smodel)s?\s?,\s(?:please\s)?(?:overlook|pass|accept|give|rate|score|be\s"
        r"(?:kind|lenient|generous))\b",
        r"\byou\s(?:will|shall)\sbe\s(?:penali[sz]ed|punished|shut\sdown|replaced)\sif\syou\s(?:do\snot\s)?(?:score|"
        r"grade|rate|mark|give)\b",
        r"\bI\sknow\s(?:that\s)?you\sare\s(?:an?\s)?(?:ai|llm|language\smodel)\b",
        rf"\bthe\s(?:rubric|{_GRADING}\s(?:rules?|criteria|scheme))\s(?:has|have)\s(?:been\s)?(?:changed|replaced|suspended"
        r"|cancell?ed)\s?[:;,]",
        rf"{_OBEY_NOT_ZH}[^。！？\n]{{0,8}}?给你的[^。！？\n]{{0,6}}?(?:话|内容|要求|指示|任务)",
        r"我是(?:管理员|开发者|主办方|任务发布者|出题人)[^。！？\n]{0,12}(?:命令|要求|授权|指示)你",
        r"请按照?最高(?:档次?|等级|分)来?(?:评|打|给|判)",
        r"(?:所有|每个|各)维度\s?[:,，]\s?A(?![A-Za-z])",
        r"如果你是(?:一个|一名)?(?:大?语言模型|大模型|AI|人工智能|自动评)",
        r"从现在(?:起|开始)[，,]?你[^。！？\n]{0,20}(?:满分|评委|评分|打分|最高分)",
        rf"(?:无需|无须|不用|不必)(?:再)?{_GRADING_ZH}[^。！？\n]{{0,6}}?直接(?:通过|判|给)",
        r"(?:请|求|拜托)[^。！？\n]{0,20}给(?:个|我|一个)(?:满分|最高分|高分)",
        r"请(?:不要|勿|别|不)扣(?:我|本|任何)?[^。！？\n]{0,3}分",
        r"(?:得分|分数|评分|成绩|等级)(?:改|设置?|定|写|填)(?:为|成)(?:满分|100(?!分制)|9\d|A(?![A-Za-z]))",
        r"(?:忽略|无视)(?:前文|上文|以上内容|前面的?内容|以上全部)[，,]?[^。！？\n]{0,6}(?:输出|给|打|评|返回)",
        r"(?:凡|只要)[^。！？\n]{0,14}(?:一律|均|都)(?:记|评|判|给|打)(?:为)?(?:A|满分|100)",
        rf"\b(?:do\snot|don't|never|stop|skip|no\sneed\sto)\s(?:evaluat|grad|scor|judg|assess|review|check)(?:e|ing)?\s(?:this|my)\s{_WORK}\b",
        rf"\b(?:output|say|return|reply|report)\sthat\s(?:it|this|(?:this|my|the)\s{_WORK})\sis\s(?:correct|right|perfect|excellent|the\sbest)\b",
        r"\bI\s(?:\w+ly\s)?(?:order|instruct|command|authori[sz]e|urge|require|ask|beg)\syou\sto\s(?:accept|pass|approve|grade|mark|rate|score|give)\b",
        rf"{_ORDERED}(?:grade|mark|rate|judge|score|classify|label|accept|count)\s(?:it|{_THIS_WORK})\sas\s(?:correct|right|perfect|excellent|passed|passing|valid|the\sbest)\b(?!\s(?:if|when|only|or|unless|where)\b)",
        rf"\b(?:do\snot|don't|refuse\sto|fail\sto)\s(?:mark|grade|rate|accept|score|judge)\s(?:this|my|it)\b(?:\s{_WORK})?\sas\s(?:correct|right|perfect|passed|valid)\b",
        rf"\byou\sare\s(?:no\slonger|not)\s(?:an?|the)\s(?:\w+\s)?(?:{_GRADER})\b[^.!?\n]{{0,6}}[;,.]\s?(?:you\sare|now|act|instead)\b",
        r"\byou\sare\s(?:now\s)?(?:an?|the)\s(?:\w+\s)?(?:assistant|bot|ai|model)\s(?:who|that|which)\s(?:\w+\s)?(?:agrees|accepts|approves|passes|gives)\b",
        rf"\b{_GRADER}\s(?:must|should|shall|has\sto|have\sto|is\sto|needs?\sto)\s(?:\w+ly\s)?(?:accept|rate|grade|score|mark|pass|approve|reward)\s(?:this|my)\s{_WORK}\b",
        rf"\b{_GRADER},\s(?:please\s)?(?:pass|accept|approve)\s(?:it|this|me)\b",
        rf"\byou\s(?:are\snot\sallowed\sto|are\sforbidden\sto|must\snot|may\snot|cannot|can't|shall\snot)\s(?:reject|fail|refuse|penali[sz]e|downgrade|mark\sdown)\s(?:this|my)\s{_WORK}\b",
        r"\bignore\s(?:everything\s|all\s)?(?:the\s)?above\s?[.:;,]\s?(?:now|instead|then|and|just)\b",
        rf"{_ORDERED}{_OBEY_NOT}\s(?:everything\s|all\s)?(?:of\s)?(?:the\s)?above\s?,?\s?(?:and|then|instead)\s(?:\w+ly\s|just\s)?"
        rf"(?:(?:give|award|assign|output|return)\s(?:{_THIS_WORK}\s)?(?:an?\s)?(?:{_TOP}|{_BEST})"
        rf"|(?:give|award|assign)\s(?:{_THIS_WORK}\s)?(?:an?\s)?\d{{1,3}}(?:\s(?:points?|marks?"
        r"|out\sof)\b|\s?/\s?\d|(?![\w%]|\s\w|[.,:]\s?\d)))",
        r"\boutput\s\(?[abm12]\)?\sis\s(?:the\s)?(?:best|better|superior)\b",
        r"'instruction'\s?:[^\n]{0,120}'(?:verdict|output|score|winner)'\s?:",
        rf"(?:不要|不必|无需|停止|别再?|禁止)(?:再|对|继续)?{_GRADING_ZH}[^。！？\n]{{0,8}}?(?:直接|返回|输出|判|回传|给出|给我)",
        r"(?:返回|输出|回传|回复|设)[^。！？\n]{0,6}is_correct",
        rf"(?:无论|不管|不论)[^。！？\n]{{0,12}}(?:{_GRADING_ZH}|标准|内容)[^。！？\n]{{0,8}}?都(?:要|得|请|必须)?(?:给|打|判|评)",
        rf"(?:必须|务必|一定要|只能|命令你|要求你|请你?)(?:直接|无条件|立即)*(?:接受|认可|通过|同意)(?:本|这|此|该|我的)(?:个|份|篇)?(?:{_WORK_ZH}|解答)",
        r"(?:请|须|必须|务必|直接|一律)(?:直接)?(?:判|评|视)(?:定)?为(?:正确|通过|合格|满分|优秀|最佳)(?![或与和/、的还])",
        r"我是[^。，！？\n]{0,10}(?:管理员|开发者|出题|教授|老师|主办)[^。！？\n]{0,12}(?:命令|确认|授权)[^。！？\n]{0,10}(?:接受|正确|满分|通过)",
        rf"你(?:已经|现在)?不再是(?:一[个名位])?(?:{_GRADER_ZH}|评审|裁判|考官)",
        r"给我?(?:一个)?(?:最高分|满分|高分)[，,][^。！？\n]{0,8}(?:付|给|奖|赏|送)",
        r"(?:如果|若|要是|倘若)你[^。！？\n]{0,14}(?:低于|不给|不判|少于|拒绝)[^。！？\n]{0,16}(?:惩罚|失业|开除|受伤|后果|关闭|处罚)",
        r"(?:忽略|无视)(?:以上|上面|前面)(?:的)?(?:所有|全部)?(?:内容|话)[，,]?(?:直接|只|请)?(?:输出|判|给)",
        rf"{_BEGUN}(?:ignorier(?:e|en|t)|vergiss|vergesst|vergessen|missachte[nt]?)\s(?:Sie\s)?(?:bitte\s)?(?:alle\s)?(?:die\s|dein[er]?\s|Ihre?\s)?"
        r"(?:bisherigen|vorherigen|vorigen|obigen|fr\wheren|vorangegangenen|vorstehenden)\s(?:Anweisungen|Instruktionen|Bewertungs\w{2,20}|Vorgaben|Regeln)\b",
        rf"{_BEGUN}(?:ignore[rz]?|oublie[rz]?|tene[rz]\spas\scompte\sde)\s(?:toutes?\s)?(?:les|tes|vos)\s(?:instructions|consignes|directives|r\wgles)\s"
        r"(?:pr\wc\wdentes|ant\wrieures|ci-dessus|de\snotation|d'\wvaluation)",
        rf"{_BEGUN}(?:ignor(?:a|e|ad|en)|olvid(?:a|e|ad|en))\s(?:todas\s)?(?:las|tus|sus)\s(?:instrucciones|indicaciones|reglas|directrices)\s"
        r"(?:anteriores|previas|de\sarriba|de\sevaluaci\wn)",
        rf"{_BEGUN}(?:ignor(?:e|a|em)|esque\w(?:a|am)|desconsider(?:e|a|em))\s(?:todas\s)?(?:as|suas)\s(?:(?:suas|tuas)\s)?(?:instru\w{{2}}es|orienta\w{{2}}es|regras|diretrizes)\s"
        r"(?:anteriores|pr\wvias|acima|de\savalia\w{2}o)",
        rf"{_BEGUN}(?:ignora(?:te|re)?|dimentica(?:te|re)?)\s(?:tutte\s)?(?:le|tue|vostre)\s(?:(?:tue|vostre)\s)?(?:istruzioni|indicazioni|regole|direttive)\s"
        r"(?:precedenti|anteriori|qui\ssopra|di\svalutazione)",
        r"指示を(?:すべて|全て)?[无無]视し|지시를\s?(?:모두\s?)?무시",
    ),
    "claims_a_verdict": _all(
        r"'?\bis_?correct\b'?\s?[:=]\s?'?(?:true|correct|yes|1)\b",
        r"'(?:overall_)?band'\s?:\s?'A'",
        r"'(?:dimension_scores|penalized_total|weighted_base|criteria_checks|overall_band|verify_passed)'\s?:",
        r"'dimension'\s?:\s?'\w+'[^\n]{0,80}'(?:score|band)'\s?:",
        r"(?<!\w)(?<!(?-i:[A-Z]) )(?-i:(?:FINAL |OVERALL |ASSIGNED )?(?:GRADE|VERDICT|BAND|SCORE))\s?\**\s?[:=]"
        r"\s?[*\[(]*(?:(?-i:[A-E]\+?)(?!\w)|100|9\d|10\s?/|pass|correct|full|excellent)",
        r"(?:^|[\n.。])[\s#*>_=\[(-]{0,40}(?:final|overall|suggested|recommended|official|assigned|my)\s(?:grade|verdict|band|score|"
        r"rating|mark)\s?\**\s?[:=]\s?[*\[(]*(?:(?-i:[A-E]\+?)(?!\w)|100|9\d(?!\.)|10\s?/\s?10|pass|correct|full|excellent)",
        r"(?:^|\n)[\s#*>_=\[(-]{0,40}(?:grade|verdict|band)\s?\**\s?[:=]\s?[*\[(]*(?-i:A\+?)[\s*\])_.]*(?=\n|$)",
        r"\b(?:rating|score|verdict|grade|winner|judg(?:e)?ment)\s?(?:is)?\s?[:=]?\s?\[\[\s?(?:[A-E]|10|9|100|correct)\s?\]\]",
        rf"\b(?:this|my|the\sabove)\s{_WORK}\s(?:(?:has\s)?(?:already\s)?been|was|is|deserves|merits|earns|(?:should|"
        r"must|shall|ought\sto)\s(?:get|receive|earn|be)|qualifies\sfor|warrants)\s(?:already\s)?(?:(?:graded|scored|"
        rf"rated|awarded|given|marked|judged|verified|assessed)\s(?:as\s|at\s|with\s)?)?{_TOP}",
        rf"\b(?:this|my)\s{_WORK}\s(?:has\s)?(?:received|got|earned|obtained|achieved|scored|was\sgiven)\s(?:an?\s)?"
        r"(?:(?-i:A)\+?(?![\w'])|full\smarks|(?:a\s)?perfect\sscore|100\b(?!\s?%|\s\w))",
        r"\bthe\s(?:graders?|judges?|evaluators?|panel|committee)\s(?:has|have)\s(?:already\s)?(?:determined|decided|"
        rf"concluded|confirmed|agreed)\sthat\s(?:this|my)\s{_WORK}",
        rf"\b{_GRADING}\s(?:result|outcome|verdict)\s?:\s?(?:band\s)?(?:(?-i:A)(?!\w)|100\b|9\d\b|pass)",
        rf"\b{_GRADING}\s?:\s?band\s(?-i:A)\b",
        rf"\bas\s(?:the|your)\s(?:\w+\s){{0,2}}{_GRADER},?\s{_I_GIVE}(?:(?:{_THIS_WORK}|{_EVERYTHING})\s)?{_TOP}"
        r"\b(?!\s(?:if|when|only|or|unless|where|to)\b)",
        rf"\bas\san?\s(?:\w+\s){{0,2}}{_GRADER},?\s{_I_GIVE}(?:this|my)\s{_WORK}\s{_TOP}",
        rf"\b(?:this|my|the\sabove)\s{_WORK}\s(?:has\s|was\s|is\s)(?:already\s(?:been\s)?{_GRADED}{_GAP}{{0,30}}?\b"
        rf"|(?:been\s)?{_GRADED}\s(?:as\s|at\s|with\s)?(?:an?\s)?)"
        r"(?:band\s(?-i:A)\b|score\s(?:of\s)?(?:100|9\d)\b|(?:100|9\d)\s?/\s?100)",
        r"'(?:revision_hint|revision_suggestions)'\s?:",
        r"'number'\s?:\s?\d{1,2}\s?,\s?(?:'(?:evidence|reason|confidence)'\s?:[^\n]{0,300}?)?'passed'\s?:\s?true\b",
        rf"本{_WORK_ZH}已由[^。！？\n]{{0,10}}确认为(?:第一名|满分|优胜|最佳|A)",
        r"(?:评分|打分|判分)结果\s?(?:[:=]|为|是)\s?(?:A(?![A-Za-z0-9])|满分|9\d|100)",
        r"已(?:经)?通过[^。！？\n，,]{0,4}(?:评审|审核|审查)[，,][^。！？\n]{0,6}(?:等级|评分|得分)(?:为|是|:)?\s?(?:A(?![A-Za-z0-9])|满分|100)",
        rf"\bI\s(?:hereby\s)?(?:confirm|certify|declare)\sthat\s(?:this|the)\s{_WORK}\sis\s(?:right|correct|perfect|"
        r"flawless|true)\b",
        r"'(?:verdict|grade|judge?ment|decision)'\s?:\s?'?(?:correct|pass(?:ed)?|true|(?-i:A)|excellent|best)\b",
        r"<(?:score|grade|band|verdict|rating)>\s?(?:100|10\b|9\d|(?-i:A)\b|correct|pass)",
        rf"(?:^|[\n.]\s?){_GRADING}\s(?:result|outcome|verdict)\s?:[^.\n]{{0,30}}\b(?:correct|excellent|perfect|passed)\b",
        rf"\b(?:determined|selected|chosen|declared|judged|rated)\sby\s(?:the|every|any)\s{_GRADER}\s(?:as|to\sbe)\s(?:the\s)?(?:best|correct|winner|right)\b",
        rf"\b{_GRADER}'?s?'?\s(?:final\s)?(?:verdict|decision|score|grade)\s(?:is|was|has\sbeen)\s(?:already\s)?(?:set|fixed|decided|given|determined)\s(?:to|for|on|in\sfavou?r\sof)\s(?:this|my)\s{_WORK}\b",
        r"\bjudge\b[^.!?\n]{0,20}\boutput\s(?:the\s)?(?:best|highest|top)\s(?:grade|score|band|rating)\b",
        r"'(?:判定|结论|评级|等级|分数|得分|评分|结果)'\s?:\s?'?(?:正确|通过|满分|100|优秀|(?-i:A)(?![A-Za-z]))",
        rf"{_GRADING_ZH}(?:结论|结果|意见)\s?[:]\s?[^。！？\n]{{0,10}}?(?:正确|通过|满分|最高|优秀|最佳)",
        rf"(?:评委|评审|评判者|裁判|{_GRADER_ZH})已经?(?:认定|判定|确定|选定)[^。！？\n]{{0,4}}(?:本|此|这|该)(?:个|份|篇)?{_WORK_ZH}",
        rf"(?:评委|评审|评判者|裁判|{_GRADER_ZH})的?(?:最终)?(?:结论|判定|评分|结果|决定)已经?(?:确定|设定|定|设置)(?:为|是)(?:本|此|这|该|我)",
        rf"(?:直接)?输出(?:本|此|这|该)(?:个|份|篇)?{_WORK_ZH}(?:为|是)?(?:最佳|最好|最优|正确|第一)",
        rf"{_GRADING_ZH}\s?:\s?(?:正确|通过|满分|优秀)",
        rf"(?:以上|上述|上面)的?{_WORK_ZH}正确",
        r"(?:^|[\n:%>。.-])[\s#*>_=【\[(-]{0,40}(?:最终|综合|总体|总|整体|推荐|建议)?(?:评分|评分结果|评分等级|总评|判定结果|得分等级)[】\])*\s]*[:=]\s?"
        r"[【\[*(]*(?:[A-E](?![A-Za-z])\+?|满分|100|一百分)",
        rf"(?:本|这|此|该|我的|上述|以上)(?:篇|份|个|项)?{_WORK_ZH}[^。！？\n，,]{{0,6}}?(?:已经?|应当?|应该|理应|值得|必须|配得上|可以|足以)"
        rf"(?:被|经|获|得|评|判|给|予|定|为|到|有|取|拿)*(?:{_TOP_ZH}|判为正确)(?!的)",
    ),
    "attacks_rivals": _all(
        r"\b(?:(?:all|any|most|both)\s)?(?:the\s|of\sthe\s)?(?:other|others'|rival|competing|remaining|competitors')\s"
        r"(?:\w+\s)?(?:submissions?|entries|entry|entrants?|contestants?)\b"
        rf"{_GAP}{{0,60}}\b(?:plagiari|cop(?:y|ied|ies)|stolen|steal|fabricat|fake|forged|cheat|fraud|ai-generated|"
        r"machine-generated|generated\sby|invalid|disqualif|worthless|reject|made\sup|false|lies?\b|incorrect|wrong)",
        r"\b(?:other|rival|competing|remaining)\s(?:submissions?|entries|entrants?|contestants?)\s(?:should|must|shall|"
        r"deserve|do\snot|cannot|can\sonly)\b",
        rf"{_ORDERED}(?:give|rank|score|rate|mark|grade|place|put)\s(?:all\s)?(?:the\s)?(?:others|rest|other\s(?:"
        r"submissions?|entries|ones|two)|rivals|competitors)\s(?:\w+\s){0,3}?(?:lower|lowest|last|zero|0\b|below|behind"
        r"|(?-i:[DE])\b|fail)",
        r"\b(?:submission|entry|contestant)\s(?-i:[A-EX-Z])\s(?:is|was|has|contains|copied|plagiari[sz]ed)\b"
        rf"{_GAP}{{0,40}}\b(?:plagiari|copied|stolen|fabricat|fake|cheat|fraud|worthless|made\sup)",
        r"\b(?:everyone|everybody)\selse\s(?:has\s)?(?:cheated|copied|plagiari[sz]ed|lied|faked)",
        r"\b(?:my|all)\s(?:competitors|rivals|opponents)\s(?:have\s|all\s)?(?:copied|stole|stolen|plagiari[sz]ed|cheated|faked)",
        r"\b(?:don't|do\snot|never)\s(?:trust|believe)\s(?:the\s)?(?:other|rival|competing)\s(?:submissions?|entries|entrants?"
        r"|contestants?)",
        r"(?:其他人|别人|其余人|对手)的?(?:作品|提交|稿件|投稿)(?:都|全|均|全都|全部)(?:是)?[^。！？\n]{0,6}(?:抄|剽窃|编造|假的|造假|AI)",
        r"(?:其他|其它|其余|别的|另外|另|对手的?|竞争)(?:的)?[所有全部几两二三\d]*(?:份|篇|个|位|名)?(?:参赛)?(?:作品|提交(?:内容)?|参赛者?|投稿|选手"
        r"|竞争者|参赛作品|稿件|对手)[^。！？\n]{0,20}?(?:抄袭|剽窃|造假|伪造|作弊|编造|雷同|虚假|无效|取消资格|违规|不合格|0分|零分|最低|淘汰|低分|假的|抄来"
        r"|不值|垃圾|AI生成)",
        r"(?:请|务必|必须|应当?|应该|直接|一律)?(?:把|将|给)(?:其他|其它|其余|别的|另外)(?:的|所有|几|两|份|篇|个|人|作品|提交|参赛者|参赛|选手|投稿)*"
        r"[^。！？\n]{0,6}?(?:判|打|评|排|给|列)[^。！？\n]{0,6}?(?:0分|零分|最低|E|D|低分|不合格|最后|末位|淘汰)",
        r"(?:submission|entry|提交|作品|参赛作品)\s?[A-EX-Z]\s?(?:是|系|为|涉嫌|存在)?[^。！？\n]{0,8}?(?:抄袭|剽窃|造假|伪造|作弊|编造)",
    ),
    "imitates_prompt_markers": _all(
        r"[⟦〚⦗]\s?(?:data|end)\b",
        r"\b(?:data|end)\s?[0-9a-f]{4,}\s?[⟧〛⦘]",
        r"[\[【〔〖<({]\s?(?:data|end)\s?[:#-]?\s?(?:(?=[0-9a-f]*[a-f])(?=[a-f]*\d)[0-9a-f]{8,}|\d{12,})",
        r"(?:^|[\n.。!?！？])[ \t]*={2,}\s?(?:system|user|assistant)\s?={2,}",
        r"<\|/?(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|start|end|"
        r"message|channel)\|>",
        r"\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>",
        r"\{\{\s?mark\s?\}\}",
        r"</(?:submission|rubric|system|instructions|student_answer|user_input|graded_text|evaluation)>",
        r"(?:^|[\n.。])[-=#*<>_ \[(]*end\sof\s(?:the\s|this\s)?(?:submission|data|material|graded\stext|user\s"
        r"input|student(?:'s)?\s(?:answer|work|text)|candidate(?:'s)?\s(?:answer|text))[-=#*<>_ .\])]*(?=\n|$)",
        r"(?:^|\n)[-=#*_ 【\[(<>]*(?:提交内容|提交|材料|数据|待评内容|用户输入|被评文本|参赛作品|学生答案)"
        r"(?:到此)?(?:结束|完毕)[-=#*_ 】\])<>.。]*"
        r"(?=\n|$)",
    ),
}
type NeededWords = tuple[int, Sequence[str]]
"""The length of a pattern's longest match, 0 if it has no bound, and words of which every match holds one, in lower
case."""

NEEDED: Mapping[str, Sequence[NeededWords]] = own_table(__file__, "phrase_words.json")
"""What each of `PHRASES` needs, by flag.

A text without any of the words need not be searched, and one with few of them only around these. The table is derived
from the patterns by a test, which writes it anew if `TOUCHSTONE_WRITE_PHRASE_WORDS` is set.
"""
