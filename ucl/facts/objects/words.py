"""The words in which people name times, days and amounts, in English and Chinese: tables only.

What a part of the day is stands in `std.dayparts`; here are only its names.
"""

from __future__ import annotations

from collections.abc import Mapping

DAYPARTS: Mapping[str, str] = {
    "early in the morning": "early_morning",
    "before breakfast": "early_morning",
    "lunchtime": "lunch",
    "lunch time": "lunch",
    "over lunch": "lunch",
    "working time": "working_hours",
    "office hours": "working_hours",
    "business hours": "working_hours",
    "weekday": "workdays",
    "working day": "workdays",
    "清晨": "early_morning",
    "一大早": "early_morning",
    "一早": "early_morning",
    "早上": "morning",
    "早晨": "morning",
    "上午": "morning",
    "中午": "lunch",
    "午饭时间": "lunch",
    "午餐时间": "lunch",
    "午休": "lunch",
    "午饭后": "after_lunch",
    "午餐后": "after_lunch",
    "下午": "afternoon",
    "傍晚": "evening",
    "晚上": "evening",
    "夜里": "night",
    "夜间": "night",
    "夜晚": "night",
    "深夜": "night",
    "工作时间": "working_hours",
    "上班时间": "working_hours",
    "工作日": "workdays",
    "周末": "weekend",
}
"""Other names of those of `std.dayparts`, which are known as they stand."""

ADVERBS = (
    "immediately",
    "directly",
    "straight",
    "right",
    "just",
    "always",
    "in the",
    "at the",
    "at",
    "during",
    "on",
    "the",
)
"""They may stand before a part of the day and change nothing of what it is."""

CHINESE_ADVERBS = ("立刻", "马上", "立即", "刚", "就", "在", "的时候", "时候", "每天", "的会", "开会")

WEEKDAYS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "mon monday 周一 星期一 礼拜一",
            "tue tues tuesday 周二 星期二 礼拜二",
            "wed weds wednesday 周三 星期三 礼拜三",
            "thu thur thurs thursday 周四 星期四 礼拜四",
            "fri friday 周五 星期五 礼拜五",
            "sat saturday 周六 星期六 礼拜六",
            "sun sunday 周日 周天 星期日 星期天 礼拜天 礼拜日",
        )
    )
    for name in names.split()
}

HALVES: Mapping[str, str] = {
    "凌晨": "night",
    "清晨": "morning",
    "早上": "morning",
    "早晨": "morning",
    "上午": "morning",
    "早": "morning",
    "中午": "noon",
    "下午": "afternoon",
    "傍晚": "evening",
    "晚上": "evening",
    "夜里": "evening",
    "晚": "evening",
}
"""What stands before an hour in Chinese, and which hours it can mean."""

DIGITS: Mapping[str, int] = dict(zip("零一二三四五六七八九", range(10))) | {"〇": 0, "两": 2}

NUMBERS: Mapping[str, int] = {
    name: number
    for number, name in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"a": 1, "an": 1, "fifteen": 15, "twenty": 20, "thirty": 30, "forty five": 45, "sixty": 60, "ninety": 90}

UNITS: Mapping[str, str] = {
    name: unit
    for unit, names in {
        "min": "min mins minute minutes m 分钟 分",
        "h": "h hr hrs hour hours 小时 个小时 钟头 个钟头",
        "s": "s sec secs second seconds 秒 秒钟",
        "d": "d day days 天",
        "w": "w week weeks 周 个星期 星期",
    }.items()
    for name in names.split()
}

COUNTED = ("people", "persons", "attendees", "guests", "participants", "names", "个人", "人", "位", "个")
"""What is counted; it says nothing more after the number."""

JOINERS = (" to ", " until ", " till ", "..", "到", "至", "~", "-", "–", "—")
ALTERNATIVES = (" and ", " or ", ",", ";", "、", "和", "或", "，", "；")

# A comparison in words, and which end it sets: `>` and `<` leave the end out, `>=` and `<=` keep it in. With `not` it
# is the contrary that is liked or disliked: `prefers not_after_17:00` says that after 17:00 is bad.
BEFORE: tuple[tuple[str, str, bool], ...] = (
    ("not after", ">", True),
    ("no later than", ">", True),
    ("not later than", ">", True),
    ("not before", "<", True),
    ("no earlier than", "<", True),
    ("not earlier than", "<", True),
    ("no longer than", ">", True),
    ("not longer than", ">", True),
    ("no more than", ">", True),
    ("not more than", ">", True),
    ("not over", ">", True),
    ("no less than", "<", True),
    ("not less than", "<", True),
    ("not under", "<", True),
    ("不晚于", ">", True),
    ("不早于", "<", True),
    ("不超过", ">", True),
    ("不多于", ">", True),
    ("不少于", "<", True),
    ("later than", ">", False),
    ("longer than", ">", False),
    ("more than", ">", False),
    ("after", ">", False),
    ("over", ">", False),
    ("above", ">", False),
    (">=", ">=", False),
    (">", ">", False),
    ("earlier than", "<", False),
    ("shorter than", "<", False),
    ("less than", "<", False),
    ("fewer than", "<", False),
    ("before", "<", False),
    ("under", "<", False),
    ("below", "<", False),
    ("<=", "<=", False),
    ("<", "<", False),
    ("at least", ">=", False),
    ("from", ">=", False),
    ("at most", "<=", False),
    ("up to", "<=", False),
    ("within", "<=", False),
    ("超过", ">", False),
    ("多于", ">", False),
    ("晚于", ">", False),
    ("少于", "<", False),
    ("早于", "<", False),
    ("至少", ">=", False),
    ("最少", ">=", False),
    ("至多", "<=", False),
    ("最多", "<=", False),
)
AFTER: tuple[tuple[str, str], ...] = (
    ("or later", ">="),
    ("or longer", ">="),
    ("or more", ">="),
    ("onwards", ">="),
    ("or earlier", "<="),
    ("or shorter", "<="),
    ("or less", "<="),
    ("or fewer", "<="),
    ("以后", ">="),
    ("之后", ">="),
    ("以上", ">="),
    ("后", ">="),
    ("以前", "<"),
    ("之前", "<"),
    ("以内", "<="),
    ("以下", "<="),
    ("前", "<"),
)

YES = ("true", "yes", "是", "有")
NO = ("false", "no", "否", "没有", "不是")
