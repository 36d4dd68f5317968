/*
 * What others may write into a field that anybody may fill: markup, expressions of templates, addresses that would run, no place
 * to break at, letters that go from right to left or turn those that follow, letters made of many, a property that
 * tables have by themselves.
 */

/** The longest that a name may be, for most fields. */
const LONG = 200

const KINDS = {
  markup: '<img src=x onerror="document.documentElement.dataset.ran=1"></script><script>alert(1)</script>',
  template: "{{constructor.constructor('alert(1)')()}} <%= 7*7 %> {{7*7}}",
  address: 'javascript:document.documentElement.dataset.ran=1//',
  unbroken: 'W'.repeat(LONG),
  rightToLeft: 'חנות בגדים ونموذج طويل من الاسم العربي (1) 20%',
  override: '\u202eesrever\u2067 detalosi \u2066 gnihtyna',
  /** Every object of JavaScript has this property. */
  property: 'constructor',
  emoji: '👩‍👩‍👧‍👦🏳️‍🌈🇩🇪👍🏽'.repeat(4),
}

export type NameKind = keyof typeof KINDS
export const NAME_KINDS = Object.keys(KINDS) as NameKind[]

/** The name of this kind, cut to `most` UTF-16 units, never within a letter. */
export function nameOf(kind: NameKind, most = LONG): string {
  return cut(KINDS[kind], most)
}

/** All of them in one, as long as may be. */
export const worst = (most = LONG) =>
  cut(`${KINDS.emoji.slice(0, 11)}\u202e<img src=x onerror=document.title=1>"'&{{7*7}}שלום${'W'.repeat(LONG)}`, most)

function cut(text: string, most: number): string {
  let kept = ''
  for (const letter of text) {
    if (kept.length + letter.length > most) break
    kept += letter
  }
  return kept
}
