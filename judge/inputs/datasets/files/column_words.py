"""Words by which files name columns, people, judges and criteria, in the languages that labs write them in. Words stand
here as `fold` gives them: small letters without accents."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from judge.base.late_pattern import late


def plain_letters(text: str) -> str:
    """The text with each accented Latin letter as the letter alone, of the same length as its composed form."""
    if text.isascii():
        return text
    letters = []
    for letter in unicodedata.normalize("NFC", text):
        first = unicodedata.normalize("NFD", letter)[0]
        letters.append(first if first.isascii() and first.isalpha() else letter)
    return "".join(letters)


def fold(text: str) -> str:
    """Small letters without accents, with single blanks."""
    return " ".join(plain_letters(text).lower().split())


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Field -> names that files give it, likeliest first, in small letters without blanks and marks.
NAMES: Mapping[str, tuple[str, ...]] = {
    name: _words(words)
    for name, words in {
        "id": """id storyid sid itemid exampleid uid key story stories item example sample document doc docid
            segid seg segment pairid index idx
            output textid nr geschichte erzahlung kurzgeschichte dokument beispiel fall
            eintrag aufsatz gedicht histoire recit conte exemple identifiant numero historia cuento relato
            ejemplo identificador storia racconto esempio conto exemplo verhaal voorbeeld opowiadanie frase satz phrase
            ticket stimulus nº n° º 编号
            序号 故事编号 故事id 样本 样本编号 文章编号 番号 物語番号 作品番号 作品 번호 이야기번호 номер
            рассказ история пример n no code text texte texto testo tekst 文本 essay abstract poem poeme
            poema song joke witz email dialog dialogue""",
        "text": """text story storytext mt translation generatedstory generatedtext generation generated output response
            completion continuation prediction candidate hypothesis decoded content body reply summary answer
            ubersetzung traduction traduccion traduzione traducao fortsetzung zusammenfassung resume resumen
            essay passage geschichte erzahlung kurzgeschichte texte histoire recit conte reponse texto
            historia cuento relato respuesta testo storia racconto risposta conto resposta verhaal tekst
            opowiadanie 故事 文本 正文 内容 文章 物語 テキスト 本文 文章 作品 이야기 텍스트 본문 текст
            рассказ история ответ""",
        "system": """system model modelname systemname modelid systemid generator source author writer modell
            sys bot autoria summarizer verfahren engine moteur motor decoding
            sprachmodell quelle autor verfasser modele systeme generateur auteur modelo sistema systeem generador
            modello generatore autore gerador bron auteur schrijver schreiber ecrivain escritor scrittore
            模型 系统 来源 作者 模型名称 モデル システム 作者 모델 시스템 модель система автор источник
            zrodlo llm writtenby answeredby generatedby""",
        "story_prompt": """storyprompt prompt writingprompt instruction input premise context title promptid question
            aufgabe anweisung titel thema consigne titre invite sujet instruccion titulo tema istruzione
            titolo instrucao opdracht 提示 题目 标题 指令 プロンプト 題名 タイトル お題 프롬프트 제목
            промпт задание тема topic task 写作提示 sourcedocument sourcetext
            src ausgangstext quelltext usermessage userprompt userquestion pregunta fragestellung textesource
            textooriginal originaltext texteoriginal conversation""",
        "reference": """reference human humanstory gold goldstory goldresponse ref target referenz 参考故事 参考文本
            参考""",
        "rater": """rater raterid worker workerid annotator annotatorid initials initialen initiales iniciales
            pid prolificpid             vp vpn versuchsperson respondent participant participantid userid user who
            judge evaluator ratedby source expert reader coder reviewer grader assessor labeler labeller
            subject subjectid annotateur annotatrice evaluateur evaluatrice lecteur bewerter bewerterin
            gutachter gutachterin teilnehmer teilnehmerin proband probandin leser person anotador
            anotadora evaluador evaluadora lector participante valutatore annotatore lettore partecipante
            avaliador avaliadora beoordelaar deelnemer recenzent 评委 评审 标注者 标注员 评分者 评价者
            参与者 専門家 評価者 参加者 読者 평가자 참가자 эксперт оценщик аннотатор читатель участник""",
        "criterion": """criterion criteria aspect dimension attribute metric quality test question item criterionname
            kriterium merkmal dimension aspekt frage critere aspect dimension criterio aspecto dimension
            dimensione aspetto dimensao aspect kenmerk kryterium 标准 维度 指标 评价维度 基準 観点
            評価項目 評価観点 기준 항목 критерий аспект показатель""",
        "rating": """rating score value label stars likert answer response note bewertung wertung punkte punktzahl
            urteil einstufung puntuacion nota calificacion valoracion evaluation appreciation punteggio
            valutazione voto pontuacao avaliacao beoordeling cijfer ocena 评分 得分 分数 打分 評価 スコア
            点数 得点 評点 점수 평점 оценка балл рейтинг level grade points mark verdict""",
        "panel": "panel",
        "explanation": """explanation reason reasoning rationale justification comment comments feedback why remarks
            notes note begrundung kommentar anmerkung bemerkung bemerkungen kommentare anmerkungen
            remarques observaciones             commentaire justification raison remarque comentario
            justificacion razon commento motivazione toelichting opmerking 理由 评论 备注 说明 コメント
            備考 이유 의견 комментарий обоснование причина""",
    }.items()
}
# Those of story-prompts that call a text by its title.
TITLES_OF_TEXTS = frozenset(_words("title titel titre titulo titolo 标题 題名 タイトル 제목"))
# Words that a name may have beside those of its field.
FILLERS = frozenset(
    _words(
        "name nom nome nombre naam email mail id nr no num number nummer numero code der des the of de du la le el "
        "your ihr ihre votre su tu version mt "
        "编号 号 名称 名 番号 名前 номер"
    )
)

# Parts of names of columns that count, number or place something.
_COUNTS = frozenset(
    _words("""length len words word tokens token chars time times seconds minutes duration year date index idx seed
    votes count turn assignments reward mqm rank number num order position batch page pages fold split
    temperature age n no row line id
    timestamp elapsed ms sec secs hour day month attention check trial session attempt block cohort
    education income sentences paragraphs size wortzahl worter worte zeichen dauer sekunden minuten zeit
    alter datum uhrzeit seite seiten zeile nummer nr anzahl reihenfolge lange bildung geschlecht jahr mots
    longueur duree secondes temps date ligne numero nombre ordre heure annee palabras longitud duracion
    segundos tiempo edad fecha pagina linea orden hora parole lunghezza durata secondi tempo eta data ordine
    ora palavras comprimento duracao idade ordem woorden lengte duur leeftijd tijd volgorde слов длина время
    секунд секунды возраст дата страница порядок 秒 页 时长 序号 编号 번호 번째""")
)
_COUNT = late(
    r"(?:lange|dauer|zeit|anzahl|zahl|seite|timestamp|time)$"
    r"|字数|长度|时间|用时|年龄|日期|页码|顺序|文字数|長さ|時間|年齢|日付|ページ|順番|글자수|길이|시간|나이|날짜"
)
_IDS = late(r"(?:story|worker|prompt|user|rater|annotator|item|doc|model|task|hit|assignment|session|system)id$")
# "var", "conf" and the like within a name; the German "sicher", the French "confian", the Spanish "segur".
_NO_RATING = late(
    r"std|stdev|var$|variance|conf|prob|^z[ _.-]|[ _.-]z$|z[ _.-]?scores?"
    r"|agreement|kappa|^sd$|_sd$|native|gender|cost|price|fee|latency|norm$|normali|zscore|scaled$"
    r"|familiar|certaint|attention|muttersprach|bekannt|vertraut|sicherheit|confian|certitude|segurid|confid|seguran"
    r"|置信|自信|熟悉|信頼|確信|확신|уверен|знаком"
)


def counts(parts: frozenset[str], bare: str, low: str) -> bool:
    """Whether a name's parts, or its letters, say that a column counts, numbers or places something, or measures
    spread, cost or certainty. `low` is the name in small letters."""
    return low.startswith("#") or bool(
        _COUNTS & parts or any(map(_COUNT.search, parts)) or _IDS.search(bare) or _NO_RATING.search(low)
    )


# Part of a name -> that it is a language model's or a program's; the weak ones may speak of people too.
JUDGE = late(
    r"gpt|claude|gemini|llama|mistral|mixtral|qwen|deepseek|beluga|vicuna|gemma|^phi\d*$|palm2?$|command-?r|grok|^o[134]$"
    r"|llm|^ai$|prometheus|geval|bertscore|bleu|rouge|bart|comet|meteor|bleurt|unieval"
    r"|sonnet|opus|haiku|pandalm|falcon|ernie|chatglm|^glm|kimi|moonshot|doubao|baichuan|internlm|olmo|tulu|nemotron"
    r"|jamba|zephyr|wizardlm|skywork|minimax|hunyuan|exaone|granite|dbrx|^cohere$|smollm|openchat|starling|davinci|copilot"
    r"|flan|^yi$|^ki$|^ia$|^ии$|autorater|^bot$|нейросет|gemba|文心|通义|豆包|星火|混元|千问|智谱|模型|大语言|机器|机评|机械|機械|自動|自动|モデル|인공지능|모델|chatbot"
)
WEAK_JUDGE = late(
    r"^judges?\d*$|^auto(?!r)|^pred|^metric|machine|^model$|^modell$|^modele$|^modelo$|^modello$|maschin|automat|algorithm"
    r"|richter|^juge|^juez|^giudice|^juiz|^rechter|裁判|судья|^модел"
)
# Part of a name -> that it is people's; the weak ones may be part of the name of a program.
HUMAN = late(
    r"human|people|person|mensch|humain|umano|umana|humano|humana|^mens(?:en|elijk)|人工|人类|人評|人間|人手|사람|인간|человек|люди"
    r"|^czlowiek|^gold$|^mos$"
)
WEAK_HUMAN = late(
    r"rater$|rater\d|rater[a-z]$|annot|worker|expert|crowd|reader|gold|turk|participant|reviewer|student|grader|assessor"
    r"|labell?er|evaluator|coder|editor|teacher|volunteer|linguist|panell?ist|juror|^ann$|^(?:h|r|a|w|p|ann|amt)\d+$"
    r"|lehrer|schuler|korrektor|professor|profesor|alumno|etudiant|estudiante|docente|老师|学生|先生|учител|студент"
    r"|bewerter|gutachter|prufer|leser|proband|teilnehmer|juror|anotad|evaluad|evaluat(?:eur|rice)|lecteur|lectrice"
    r"|correcteur|noteur|valutator|lettor|^lector|leitor|avaliador|beoordela|lezer|deelnemer|recenzent|ekspert"
    r"|评委|评审|标注|专家|评价者|评分者|读者|読者|評価者|評価人|専門家|평가자|전문가|독자|эксперт|аннотатор|читател|оценщик"
)
# Parts of names that say no more than that ratings are meant.
PLAIN = frozenset(
    {
        *("score", "scores", "rating", "ratings", "value", "label", "eval", "evaluation", "ans", "answer", "s"),
        *(name for name in NAMES["rating"] if name not in ("level", "points", "mark", "verdict")),
    }
)
MEANS = frozenset(
    _words(
        "mean avg average median mittel mittelwert durchschnitt moyenne media promedio gemiddelde 平均 平均分 "
        "均值 均分 평균 среднее"
    )
)
# Names that are a language model's and a person's.
BOTH_NAMES = frozenset(_words("claude gemma ernie"))
# Start of names of columns that others' verdicts or ratings were put together in.
GOLD = late(
    r"^(?:gold|majority|consensus|groundtruth|gt$|adjudicat|aggregat|consolidat|mehrheit|mayoria)|majority$|consensus$"
)
# Parts of names of measures that no language model was asked for.
MEASURES = late(r"bertscore|bleu|rouge|bart|comet|meteor|bleurt|unieval|chrf|cider|moverscore|^ter$|^nist$")
# What people are asked to rate, by names that are no person's.
CRITERIA = frozenset(
    _words("""coherence fluency relevance ch em re su eg cx consistency engagement engagingness grammar style plot
    plausibility plaus end ending creativity originality likability likeability empathy surprise complexity
    interestingness interesting interest quality naturalness groundedness overall accuracy correctness
    helpfulness harmlessness informativeness humor humour emotion emotions character characters setting
    clarity readability novelty novel useful usefulness logic logicality relatedness cohesion depth tone
    theme structure pacing voice dialogue understandability specificity factuality suspense tension language
    imagery vividness imagination memorability believability satisfaction enjoyment immersion flow
    entertainment toxicity safety faithfulness conciseness completeness sentiment politeness truthfulness
    honesty diversity repetition commonsense vocabulary spelling rhythm rhyme meaning wit funny funniness
    scary scariness likeable fluent coherent creative relevant readable original surprising adequacy
    coverage empathic emotional koharenz flussigkeit relevanz kreativitat originalitat spannung stil
    grammatik lesbarkeit verstandlichkeit emotionalitat uberraschung empathie komplexitat qualitat gesamt
    gesamteindruck plausibilitat handlung figuren sprache logik klarheit interesse unterhaltung fluidite
    pertinence creativite originalite grammaire lisibilite clarte complexite qualite interet plausibilite
    intrigue personnages logique langue global coherencia fluidez relevancia creatividad originalidad estilo
    gramatica legibilidad claridad emocion sorpresa empatia complejidad calidad interes trama logica
    verosimilitud general coerenza fluidita scorrevolezza rilevanza pertinenza creativita originalita stile
    grammatica umorismo leggibilita chiarezza emozione sorpresa complessita qualita coerencia fluencia
    criatividade originalidade clareza emocao surpresa complexidade qualidade enredo samenhang vloeiendheid
    relevantie creativiteit originaliteit stijl leesbaarheid kwaliteit spojnosc plynnosc kreatywnosc
    oryginalnosc styl jakosc 连贯性 连贯 流畅性 流畅 流畅度 相关性 创意 创造性 创造力 创新性 原创性 风格
    语法 幽默 可读性 情感 惊喜 复杂性 质量 趣味性 有趣 逻辑 逻辑性 总体 一致性 一貫性 流暢さ 流暢性 関連性
    創造性 独創性 文体 文法 面白さ 共感 驚き 複雑さ 品質 総合  일관성 유창성 관련성 창의성 독창성 흥미
    문법 품질 재미 связность беглость релевантность креативность оригинальность стиль грамматика юмор
    читаемость ясность эмоциональность эмоции удивление эмпатия сложность качество интерес логика логичность
    сюжет""")
)
# Given names of people, of many languages: columns that are named so are persons'.
GIVEN_NAMES = frozenset(
    _words("""aaron adam aisha akira alan albert alejandro alessandro alex alexander alexandra ali alice alicia alina
    alisa amanda amelie amir amy ana anastasia anders andre andrea andreas andrei andrew andy angela anita
    anja anke ann anna anne annette annika antoine anton antonio arjun arthur astrid aylin barbara beatrice
    beatriz ben benjamin bernd bernard bianca birgit bjorn bob boris brian bruno camila camille carl carla
    carlos carmen caroline catherine cecile charles charlotte chen chiara chloe chris christian christina
    christine christoph claire clara clare cleo constanze cristina dan dana daniel daniela danielle dave
    david deborah denis diana diego dimitri dirk dmitri dominik dora eduardo edward elena eleni eli elias
    elif elisa elisabeth elise elizabeth ella ellen eloise elsa emil emilia emilie emily emma eric erik
    erika ernst esra esther eva evelyn fabian fabio fatima felipe felix fernanda fernando finn flora florian
    fran francesca francesco francisco francois frank franz fred frederik frieda fritz gabriel gabriela
    georg george gerd giorgio giovanni giulia gonzalo greg greta guido gustav hana hanna hannah hans harry
    hassan heidi heike heinz helen helena helene helga henri henrik henry hiroshi holger hugo ian ibrahim
    ida igor ilse ines inga ingrid irene irina iris isabel isabella isabelle ivan jack jacob jakob james jan
    jana jane janet jean jenny jens jeremy jessica jim joan joana joao joe joel johan johanna johannes john
    jonas jorge jose josef joseph joshua juan judith jule jules julia julian juliane julie julien jun jurgen
    jutta karen karin karl karla katarina kate katharina kathrin katja katrin kaya kenji kevin kim klara
    klaus kofi kurt lara lars laura lea lena leo leon leonie li lili lilian lilly lin linda ling lisa lise
    liu liz lorenzo louis louise lucas lucia lucie lucy luigi luis luisa luise lukas luna mads magda manuel
    manuela marc marcel marco marcus margaret margot maria marie marina mario marion mark markus marta
    martha martin martina mary mateo mathieu mathilde matteo matthew matthias maud maurice maxime maya mei
    melanie mia michael michel michele miguel mika mike milan mina ming miriam mohamed mohammed moritz nadia
    nadine naomi natalia natalie nathan nick nicola nicolas nicole niklas niko nils nina noah nora olaf oleg
    olga olivia olivier omar oscar otto pablo paola paolo patricia patrick paul paula pauline pedro peter
    petra phil philipp pia pierre piotr priya quentin rachel rafael rahul raj ralf ralph ravi rebecca renate
    ricardo rita robert roberto robin roger roland roman rosa ruben ruth ryan sabine sally salma sam samir
    samuel sandra sanjay sara sarah sasha sebastian sergei silke silvia simon simone sofia sofie sonia sonja
    sophia sophie stefan stefanie stephan stephen steve steven sunil susan susanne svenja sven sylvie
    takeshi tanja tariq teresa theo theresa thomas tim timo tina tobias tom tomas toni tony ulla ulrich
    ulrike umut ursula uta ute valentin valentina valeria vera veronica victor viktor vincent viola virginie
    vivian vladimir walter wang wei werner wilhelm william wolfgang xavier xiao yan yara yasmin yi ying yuki
    yusuf yves yvonne zara zeynep zhang zhao zoe анна мария иван ольга елена дмитрий сергей 小明 小红 小李
    小王 田中 佐藤 鈴木""")
)
# Words before a person's name.
TITLES = frozenset(_words("fr hr frau herr mr mrs ms dr prof mme mlle sr sra sig dhr mevr"))
# Words of labels that have an order, the lowest first.
ORDERS: tuple[tuple[str, ...], ...] = tuple(
    tuple(word.strip() for word in line.split("<"))
    for line in """no < yes
        false < true
        fail < pass
        incorrect < correct
        wrong < right
        n < y
        no < partially < yes
        no < partly < yes
        no < somewhat < yes
        no < maybe < yes
        no < unsure < yes
        low < medium < high
        low < moderate < high
        none < low < medium < high
        none < mild < moderate < severe
        very low < low < medium < high < very high
        bad < ok < good
        bad < okay < good
        bad < neutral < good
        bad < average < good
        bad < fair < good
        bad < good
        weak < strong
        weak < medium < strong
        weak < average < strong
        worse < same < better
        poor < ok < good
        poor < fair < good
        poor < average < good
        poor < good
        poor < fair < good < excellent
        poor < average < good < excellent
        poor < fair < good < very good < excellent
        terrible < bad < ok < good < great
        terrible < poor < fair < good < excellent
        very poor < poor < fair < good < very good
        very bad < bad < neutral < good < very good
        very bad < bad < ok < good < very good
        unacceptable < acceptable
        unacceptable < acceptable < good
        dislike < like
        dislike < neutral < like
        reject < accept
        boring < ok < interesting
        negative < neutral < positive
        never < rarely < sometimes < often < always
        not at all < slightly < moderately < very < extremely
        not at all < a little < somewhat < very much
        not < somewhat < very
        one < two < three < four < five
        strongly disagree < disagree < neutral < agree < strongly agree
        strongly disagree < disagree < undecided < agree < strongly agree
        strongly disagree < disagree < neither agree nor disagree < agree < strongly agree
        strongly disagree < disagree < agree < strongly agree
        strongly disagree < disagree < somewhat disagree < neither agree nor disagree < somewhat agree < agree < \
strongly agree
        strongly disagree < disagree < somewhat disagree < neutral < somewhat agree < agree < strongly agree
        stimme uberhaupt nicht zu < stimme nicht zu < teils teils < stimme zu < stimme voll zu
        stimme gar nicht zu < stimme eher nicht zu < teils teils < stimme eher zu < stimme voll zu
        trifft gar nicht zu < trifft eher nicht zu < teils teils < trifft eher zu < trifft voll zu
        pas du tout d'accord < pas d'accord < neutre < d'accord < tout a fait d'accord
        pas du tout d'accord < plutot pas d'accord < ni d'accord ni pas d'accord < plutot d'accord < \
tout a fait d'accord
        totalmente en desacuerdo < en desacuerdo < neutral < de acuerdo < totalmente de acuerdo
        totalmente en desacuerdo < en desacuerdo < ni de acuerdo ni en desacuerdo < de acuerdo < \
totalmente de acuerdo
        disagree < neutral < agree
        disagree < agree
        f < e < d < c < b < a
        nein < ja
        falsch < richtig
        nein < teilweise < ja
        nein < vielleicht < ja
        schlecht < gut
        schlecht < mittel < gut
        schlecht < ok < gut
        schlecht < mittelmaßig < gut
        sehr schlecht < schlecht < mittel < gut < sehr gut
        ungenugend < mangelhaft < ausreichend < befriedigend < gut < sehr gut
        schwach < mittel < stark
        niedrig < mittel < hoch
        gering < mittel < hoch
        nie < selten < manchmal < oft < immer
        non < oui
        faux < vrai
        non < en partie < oui
        non < plutot non < plutot oui < oui
        mauvais < moyen < bon
        mauvais < passable < bon
        mauvais < passable < bon < tres bon
        tres mauvais < mauvais < moyen < bon < tres bon
        faible < moyen < fort
        faible < moyen < eleve
        pas du tout < un peu < beaucoup
        no < si
        no < parcialmente < si
        malo < regular < bueno
        malo < regular < bueno < muy bueno
        muy malo < malo < regular < bueno < muy bueno
        mala < regular < buena
        bajo < medio < alto
        falso < verdadero
        falso < vero
        scarso < sufficiente < buono
        scarso < sufficiente < buono < ottimo
        cattivo < medio < buono
        basso < medio < alto
        nao < sim
        ruim < regular < bom
        ruim < regular < bom < otimo
        baixo < medio < alto
        nee < ja
        slecht < matig < goed
        slecht < voldoende < goed
        nie < tak
        zly < sredni < dobry
        нет < да
        нет < частично < да
        плохо < нормально < хорошо
        плохо < средне < хорошо
        плохо < удовлетворительно < хорошо < отлично
        否 < 是
        不好 < 一般 < 好
        差 < 一般 < 好
        差 < 中 < 好
        差 < 中 < 良 < 优
        低 < 中 < 高
        いいえ < はい
        悪い < 普通 < 良い
        不可 < 可 < 良 < 優
        低い < 普通 < 高い
        아니오 < 예
        나쁨 < 보통 < 좋음
        낮음 < 보통 < 높음""".splitlines()
)

# Cells by which a row says that it is no answer of the study (rejected, a trial, unfinished), by their column's name.
NO_ANSWERS: Mapping[str, frozenset[str]] = {
    "assignmentstatus": frozenset(("rejected",)),
    "status": frozenset(("survey preview", "survey test", "spam", "rejected", "returned", "timed out", "preview")),
    "finished": frozenset(("false", "0")),
}
# Cells of an item or a question that checks attention.
CHECKS = late(
    r"^(?:attention|catch|instructed response)(?:[ _-]?(?:check|trial|item|question|test)s?)?[ _-]*\d*$"
    r"|^(?:aufmerksamkeits(?:test|check|frage)|test d'attention|control de atencion)$"
)
# A word for ranks in a column's name.
RANKS = late(r"(?i)\b(?:rank(?:ing|ed)?|rang|platz|puesto|posici[oó]n|place|classement)\b[ _:-]*")
