"""What Chinese calls marks, money, units and letters, and the words beside which a number is a code."""

DIGITS = str.maketrans("0123456789", "零一二三四五六七八九")
PHONE_DIGITS = str.maketrans("0123456789", "零幺二三四五六七八九")
MARKS = {".": "点", "/": "斜杠", ":": "冒号", "@": "艾特", "-": "横杠", "_": "下划线", "?": "问号", "=": "等于"}
MARKS |= {"&": "和", "#": "井号", "+": "加", "~": "波浪号", "%": "百分号"}
MONEY = {
    "HK$": "港元",
    "US$": "美元",
    "NT$": "新台币",
    "¥": "元",
    "$": "美元",
    "€": "欧元",
    "£": "英镑",
    "₩": "韩元",
    "₹": "卢比",
}
UNITS = {
    "mmHg": "毫米汞柱",
    "m/s²": "米每二次方秒",
    "kWh": "千瓦时",
    "mAh": "毫安时",
    "rpm": "转每分钟",
    "Mbps": "兆比特每秒",
    "Gbps": "吉比特每秒",
    "GHz": "吉赫兹",
    "MHz": "兆赫兹",
    "kHz": "千赫兹",
    "Hz": "赫兹",
    "KB": "千字节",
    "MB": "兆字节",
    "GB": "吉字节",
    "TB": "太字节",
    "kW": "千瓦",
    "MW": "兆瓦",
    "kV": "千伏",
    "mA": "毫安",
    "dB": "分贝",
    "µg": "微克",
    "µm": "微米",
    "nm": "纳米",
    "km³": "立方千米",
    "g": "克",
    "V": "伏",
    "W": "瓦",
    "h": "小时",
    "min": "分钟",
}
LIBRARY_UNITS = "km|dm|cm|mm|m|kg|mg|t|ml|mL|L|l|ms|s|ha|w"
"""Which wetext reads."""
SERIES = "歼|轰|运|直|武直|东风|巨浪|长征|神舟|天宫|嫦娥|红旗|鹰击|图|苏|米格"
"""What is numbered behind a hyphen, which is no minus there."""
CODED_BEHIND = "波音|空客|房间|航班|车次|房号|编号|工号|型号|门牌|邮编|代码|验证码|密码|尾号"
CODED_BEFORE = "房间|教室|房|室|次列车|次航班|国道|省道|路公交"
RANGED = "楼|层|页|章|号|排|区|岁|名|栋|室|班|届|集|期|楼|人|级"
_GREEK_LETTERS = "αβγδεζηθικλµνξοπρστυφχψω"
_GREEK_NAMES = (
    "阿尔法 贝塔 伽马 德尔塔 艾普西龙 泽塔 伊塔 西塔 约塔 卡帕 拉姆达 缪 纽 克西 奥密克戎 派 柔 西格马 陶 宇普西龙 斐"
    " 希 普西 欧米伽"
)
GREEK = dict(zip(_GREEK_LETTERS, _GREEK_NAMES.split(), strict=True))
SIGNS = {"&": "和", "+": "加", "=": "等于", "×": "乘", "÷": "除以", "→": "到"}
