"""The parts that the guide's pictures are put together from, as SVG by hand."""

LINE, ORANGE, HIDE, PATCH = "#2c3e3f", "#e8590c", "#fffdf8", "#46525a"
SKIN, PINK, DEEP_PINK, HORN, GROUND, GRASS = (
    "#e3b18c",
    "#f6c3b9",
    "#d98a80",
    "#6f6255",
    "#e6f1e8",
    "#bfdcc6",
)

# Every class begins with "guide-": pictures may be set into a page that has its own.
STYLE = (
    f"<style>.guide-l{{fill:none;stroke:{LINE};stroke-width:3;stroke-linecap:round;"
    f"stroke-linejoin:round}}.guide-h{{fill:{HIDE}}}.guide-p{{fill:{PATCH}}}"
    f".guide-k{{fill:{PINK}}}.guide-d{{fill:{LINE}}}"
    f".guide-f{{fill:none;stroke:{ORANGE};stroke-width:5;stroke-linecap:round;"
    f"stroke-linejoin:round}}</style>"
)

BODY = (
    "M60 47C76 40 98 46 120 45C138 44 152 39 167 41C178 43 183 54 182 68C181 82 175 92 166 97"
    "C152 102 140 100 126 103C106 106 86 104 73 98C62 93 55 84 52 74L46 62L52 44Z"
)
HEAD = (
    "M40 32C46 29 54 33 56 42C57 52 52 62 42 68C34 72 26 77 17 77C9 77 6 70 9 64C14 55 26 38 40 32Z"
)

# A cow from the side, facing left, about 190 x 150 units, her feet at y = 146.
COW = f"""
<g class="guide-l">
<path class="guide-p" d="M92 96L90 116L92 136H82L80 116L79 94Z"/><path class="guide-d"
d="M81 136H93L95 146
H80Z"/>
<path class="guide-p" d="M152 90L149 112L152 136H142L138 112L138 90Z"/>
<path class="guide-d" d="M141 136H153L155 146H140Z"/>
<path d="M180 52C190 60 189 84 188 100" stroke-width="4"/>
<path class="guide-p" d="M185 98C182 108 184 116 190 120C194 112 194 104 191 98Z"/>
<path class="guide-k" d="M124 100C126 112 134 117 142 117C152 117 158 108 158 96Z"/>
<path class="guide-k" d="M130 111L129 121H134L136 115M145 116L145 124H150L151 114"/>
<path class="guide-h" d="M82 96L80 116L82 136H70L68 116L64 90Z"/><path class="guide-d"
d="M69 136H83L85 146
H67Z"/>
<path class="guide-h" d="M180 74C179 90 173 98 170 112L173 136H161L156 113C154 102 150 92 152 80
Z"/>
<path class="guide-d" d="M160 136H174L176 146H158Z"/>
<path class="guide-h" d="{BODY}"/>
<clipPath id="b"><path d="{BODY}"/></clipPath>
<g class="guide-p" clip-path="url(#b)" stroke="none"><path d="M76 38C70 58 82 74 98 68
C112 62 106 46
112 38Z"/>
<path d="M136 38C130 56 142 70 158 62C166 57 168 48 164 36Z"/>
<path d="M186 58C174 62 168 76 176 88L190 90Z"/></g>
<path d="{BODY}"/><path d="M153 82C151 92 154 100 156 110"/>
<path class="guide-h" d="{HEAD}"/><clipPath id="c"><path d="{HEAD}"/></clipPath>
<g clip-path="url(#c)" stroke="none"><path class="guide-p" d="M40 26L60 30L60 62L46 62
C36 54 44 42 36
36Z"/>
<path class="guide-k" d="M2 60L16 56C22 62 24 70 20 80L2 80Z"/></g>
<path d="{HEAD}"/><path d="M12 73C17 72 22 70 26 66" stroke-width="2"/>
<path class="guide-p" d="M50 36C56 26 66 24 72 28C70 36 62 42 53 42Z"/>
<path class="guide-h" d="M42 32C38 26 38 22 41 18C46 20 49 26 48 31Z"/>
<circle cx="33" cy="48" r="2.6" class="guide-d" stroke="none"/><circle cx="13" cy="65" r="1.8"
class="guide-d" stroke="none"/>
</g>"""

FACE = (
    "M60 34C72 26 108 26 120 34C128 44 126 62 121 78C117 92 120 100 120 112H60"
    "C60 100 63 92 59 78C54 62 52 44 60 34Z"
)
MUZZLE = (
    "M90 98C112 96 128 106 128 121C128 138 110 146 90 146C70 146 52 138 52 121C52 106 68 96 90 98Z"
)

# A cow's face from the front, about 180 x 150 units.
FRONT = f"""
<g class="guide-l">
<path class="guide-p" d="M58 48C40 34 20 34 10 46C16 62 40 66 58 60Z"/><path class="guide-k"
d="M50 50C38 44
27 44 21 48C28 56 40 58 50 56Z" stroke="none"/>
<path class="guide-p" d="M122 48C140 34 160 34 170 46C164 62 140 66 122 60Z"/><path
class="guide-k" d="M130
50C142 44 153 44 159 48C152 56 140 58 130 56Z" stroke="none"/>
<path d="M64 34C56 28 50 18 54 8C62 10 72 20 76 30Z" fill="#e9dfcb"/><path d="M116 34C124 28 130
18 126 8C118 10 108 20 104 30Z" fill="#e9dfcb"/>
<path class="guide-h" d="{FACE}"/><clipPath id="f"><path d="{FACE}"/></clipPath>
<g clip-path="url(#f)" stroke="none"><path class="guide-p" d="M50 30H84C78 50 86 70 76 84
C68 92 58 84
50 88Z"/><path class="guide-p" d="M130 28H104C98 44 106 62 116 74L130 76Z"/></g>
<path d="{FACE}"/><path class="guide-h" d="M78 30C80 38 84 42 90 44C96 42 100 38 102 30
C96 24 84 24 78
30Z"/>
<path class="guide-k" d="{MUZZLE}"/><path d="M78 132C84 137 96 137 102 132M90 124
V134" stroke-width="2.5"/>
<path class="guide-d" d="M66 116C66 111 76 110 78 116C78 120 68 122 66 116ZM114 116
C114 111 104 110
102 116C102 120 112 122 114 116Z" stroke="none"/>
<g class="guide-d" stroke="{HIDE}" stroke-width="2.5"><ellipse cx="70" cy="66" rx="6.5" ry="8"/>
<ellipse cx="110" cy="66" rx="6.5" ry="8"/></g>
<g fill="{HIDE}" stroke="none"><circle cx="72" cy="63" r="2"/><circle cx="112" cy="63" r="2"/></g>
</g>"""

# What the phone shows, on a screen of 72 x 104 units whose top left corner is 0, 0.
SCREEN_SKIN = f"""<path d="M0 0H72V104H0Z" class="guide-h"/><path class="guide-p" d="M0 0H72V26
C58 40 48 26
34 38C20 50 10 40 0 50Z"/>
<g class="guide-l" stroke-width="2"><path d="M8 66l4 8M24 92l4 8M60 84l4 8M58 52l3 7M10 92l3
6" opacity=".45"/></g>
<g class="guide-l"><circle cx="36" cy="64" r="13" fill="{PINK}"/><path d="M30 60c2-4 6-6 10-5"
stroke="{HIDE}"/><circle cx="58" cy="72" r="6" fill="{PINK}"/><circle cx="18" cy="80" r="5"
fill="{PINK}"/></g>"""
SCREEN_MOUTH = f"""<path d="M0 0H72V104H0Z" class="guide-h"/><g class="guide-l"><path
class="guide-k" d="M-6 30C10
12 62 12 78 30V62C60 74 12 74 -6 62Z"/>
<path class="guide-d" d="M10 40C10 32 24 31 26 39C26 46 13 48 10 40ZM62 40C62 32 48 31 46 39
C46 46 59
48 62 40Z" stroke="none"/>
<path d="M36 48V62"/><path d="M-4 66C14 78 58 78 76 66V96H-4Z" fill="{DEEP_PINK}"/>
<path d="M8 92C9 84 18 83 20 91M20 91C21 82 33 81 35 90M35 90C37 81 49 82 51 91M51 91C53 83 62
84 64 92" fill="#fff" stroke-width="2.5"/><path class="guide-k" d="M-6 92C12 88 60 88 78 92V110
H-6Z"/>
</g>"""
SCREEN_EYE = """<path d="M0 0H72V104H0Z" class="guide-p"/><g class="guide-l" stroke="#1d2a2b">
<path d="M4
56C16 32 54 30 70 54C58 74 20 78 4 56Z" fill="#fff"/>
<circle cx="38" cy="53" r="16" fill="#6b4a34"/><ellipse cx="38" cy="53" rx="11" ry="7"
class="guide-d"/><circle cx="44" cy="46" r="3.5" fill="#fff" stroke="none"/>
<path d="M2 50C14 22 58 20 72 48" fill="none"/><path d="M10 32L5 22M24 24L21 13M40 21L41 10M56
26L61 16M12 74C26 84 48 84 62 72" fill="none"/></g>"""
SCREEN_UDDER = f"""<path d="M0 0H72V104H0Z" class="guide-h"/><g class="guide-l"><path
class="guide-k" d="M-4 10C4
2 68 2 76 10C80 44 66 70 36 70C6 70 -8 44 -4 10Z"/>
<path class="guide-k" d="M10 58C8 74 12 84 16 92C22 86 24 76 24 66M48 66C48 76 50 86 56 92
C60 84 64 74
62 58"/><path class="guide-k" d="M29 68C28 76 30 82 33 86C36 82 37 76 37 70"/>
<path d="M36 14C34 30 36 44 36 54M12 22C10 30 12 38 16 44M60 22C62 30 60 38 56 44"
stroke="{DEEP_PINK}"/></g>"""
SCREEN_FOOT = f"""<path d="M0 0H72V104H0Z" fill="#f3ead9"/><path d="M0 90H72V104H0Z"
fill="#d9c9ae"/><g class="guide-l"><path class="guide-h" d="M23 -4C24 14 20 24 16 34
C13 40 12 46 12 52L36 60
L60 52C60 46 59 40 56 34C52 24 48 14 49 -4Z"/>
<path d="M10 52C14 46 30 46 35 56C37 70 36 84 32 94C22 96 10 96 3 93C2 80 5 64 10 52Z"
fill="{HORN}"/><path d="M62 52C58 46 42 46 37 56C35 70 36 84 40 94C50 96 62 96 69 93C70 80 67 64
62 52Z" fill="{HORN}"/>
<path class="guide-k" d="M9 54C14 46 30 46 35 57C28 53 18 53 9 58ZM63 54C58 46 42 46 37 57
C44 53 54 53
63 58Z" stroke-width="2"/>
<path d="M8 74C14 71 24 71 32 74M64 74C58 71 48 71 40 74M6 84C14 81 24 81 31 84M66 84C58 81 48
81 41 84" stroke="#a3947f" stroke-width="2"/></g>"""


SUN = """<g stroke="#f2b01e" stroke-width="6" stroke-linecap="round">
<circle r="21" fill="#ffd257" stroke="none"/><path d="M0 -31V-39M22 -22L28 -28M31 0H39M22 22L28
28M-22 -22L-28 -28M-31 0H-39"/></g>"""

HANDS = f"""<g class="guide-l"><path d="M-26 176L-20 132C-20 120 -12 108 -4 98C2 92 10 94 10 102
C10
110 2 118 2 126V142C2 156 -2 166 -4 176Z" fill="{SKIN}"/>
<path d="M110 176L104 132C104 120 96 108 88 98C82 92 74 94 74 102C74 110 82 118 82 126V142C82
156 86 166 88 176Z" fill="{SKIN}"/></g>"""

TICK = f"""<circle r="14" fill="#2f9e44" stroke="{HIDE}" stroke-width="3"/>
<path d="M-6 0L-1 5L7 -5" fill="none"
stroke="{HIDE}" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/>"""
