//! Mail in scripts without Latin letters, with or without blanks between words, is classified
//! correctly after a few lessons.

use crivo_mail::{Filter, Label};

use crate::support::{Writer, trained};

/// Phrases of a language: those of spam, those of ham, and those of both.
struct Language {
    name: &'static str,
    spam: [&'static str; 8],
    ham: [&'static str; 8],
    both: [&'static str; 4],
    /// The separator of phrases.
    between: &'static str,
}

const LANGUAGES: [Language; 3] = [
    Language {
        name: "Chinese",
        spam: [
            "免费领取大奖",
            "点击链接购买",
            "低价代开发票",
            "贷款无需抵押",
            "限时优惠折扣",
            "恭喜您中奖了",
            "加微信赚钱",
            "特价名牌手表",
        ],
        ham: [
            "明天下午开会",
            "请查收附件报告",
            "项目进度如下",
            "周五一起吃午饭",
            "合同草稿已修改",
            "会议记录请确认",
            "预算表需要更新",
            "团队下周出差",
        ],
        both: ["您好", "谢谢", "请尽快回复", "今天"],
        between: "，",
    },
    Language {
        name: "Russian",
        spam: [
            "бесплатный приз",
            "купите сейчас",
            "дешёвые часы",
            "кредит без залога",
            "скидка только сегодня",
            "вы выиграли деньги",
            "заработок дома",
            "нажмите на ссылку",
        ],
        ham: [
            "встреча завтра утром",
            "отчёт во вложении",
            "черновик договора",
            "обед в пятницу",
            "план проекта",
            "бюджет отдела",
            "протокол собрания",
            "расписание на неделю",
        ],
        both: ["здравствуйте", "спасибо", "пожалуйста ответьте", "сегодня"],
        between: " ",
    },
    Language {
        name: "Arabic",
        spam: [
            "جائزة مجانية لك",
            "اشتر الآن بسعر رخيص",
            "قرض بدون ضمان",
            "خصم لفترة محدودة",
            "لقد ربحت المال",
            "اضغط على الرابط",
            "ساعات فاخرة رخيصة",
            "اربح من المنزل",
        ],
        ham: [
            "اجتماع الفريق غدا",
            "التقرير في المرفقات",
            "مسودة العقد الجديدة",
            "غداء يوم الجمعة",
            "خطة المشروع القادم",
            "ميزانية القسم",
            "محضر الاجتماع",
            "جدول الأسبوع",
        ],
        both: ["مرحبا", "شكرا", "يرجى الرد", "اليوم"],
        between: " ",
    },
];

impl Language {
    /// Writes a message of eight phrases, four of them of its own class.
    fn message(&self, writer: &mut Writer, is_spam: bool) -> Vec<u8> {
        let own = if is_spam { &self.spam } else { &self.ham };
        let phrases: Vec<&str> = (0..8)
            .map(|i| if i % 2 == 0 { own[writer.below(8)] } else { self.both[writer.below(4)] })
            .collect();
        let number = writer.below(1_000_000);
        format!(
            "From: p{number}@mail.example\nSubject: {}\nContent-Type: text/plain; charset=utf-8\n\n{} {number}\n",
            phrases[0],
            phrases[1..].join(self.between)
        )
        .into_bytes()
    }
}

/// Returns how many of 100 messages have a score on the right side of one half.
fn right(filter: &Filter, language: &Language, writer: &mut Writer) -> usize {
    let is_right = |i: &usize| {
        let is_spam = i.is_multiple_of(2);
        (filter.check(&language.message(writer, is_spam)).unwrap().score >= 0.5) == is_spam
    };
    (0..100).filter(is_right).count()
}

fn lessons(language: &Language, writer: &mut Writer, count: usize) -> Vec<(Vec<u8>, Label)> {
    let label = |i: usize| if i.is_multiple_of(2) { Label::Spam } else { Label::Ham };
    (0..count).map(|i| (language.message(writer, i % 2 == 0), label(i))).collect()
}

#[test]
fn twenty_lessons_tell_spam_from_ham_in_each_script() {
    for language in &LANGUAGES {
        let mut writer = Writer::new(language.name);
        let (_folder, filter) = trained(&lessons(language, &mut writer, 20));
        let found = right(&filter, language, &mut writer);
        assert!(found >= 95, "{}: {found} of 100", language.name);
    }
}

#[test]
fn mail_of_three_scripts_in_one_store_is_told_apart() {
    let mut writer = Writer::new("mixture");
    let mail: Vec<_> = LANGUAGES.iter().flat_map(|language| lessons(language, &mut writer, 20)).collect();
    let (_folder, filter) = trained(&mail);
    for language in &LANGUAGES {
        let found = right(&filter, language, &mut writer);
        assert!(found >= 95, "{}: {found} of 100", language.name);
    }
}

#[test]
fn a_script_that_only_spam_had_speaks_for_spam() {
    let [chinese, russian, _] = &LANGUAGES;
    let mut writer = Writer::new("foreign script");
    let spam = (0..20).map(|_| (chinese.message(&mut writer, true), Label::Spam)).collect::<Vec<_>>();
    let ham = (0..20).map(|_| (russian.message(&mut writer, false), Label::Ham)).collect::<Vec<_>>();
    let (_folder, filter) = trained(&[spam, ham].concat());
    // Other phrases, which were not learned, in the same scripts.
    for _ in 0..20 {
        let foreign = filter.check(&chinese.message(&mut writer, false)).unwrap().score;
        let usual = filter.check(&russian.message(&mut writer, true)).unwrap().score;
        assert!(foreign > usual, "{foreign} and {usual}");
    }
}
