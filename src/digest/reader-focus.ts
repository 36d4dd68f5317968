import { wholeWord } from '../core/text.ts'

/** Audiences. Each audience determines the order of sections and some of the wording. */
export const AUDIENCES = ['executive', 'marketing', 'developer', 'privacy'] as const
export type Audience = (typeof AUDIENCES)[number]

/**
 * A name that a context can refer to. `members`: the events that the name represents, of which a label can have
 * several; absent for a domain.
 */
export interface Nameable {
  kind: 'domain' | 'vendor' | 'event' | 'label'
  name: string
  /** Set for a domain. */
  domainId?: string
  /** Set for names other than domains. A null vendor means any vendor; a null event means every event of the vendor. */
  members?: readonly { vendor: string | null; event: string | null }[]
}

/** Parsed context, in order of appearance. */
export interface Focus {
  /** Without duplicates. The first audience determines the wording. */
  audiences: readonly Audience[]
  /** Without duplicates. */
  named: readonly Nameable[]
}

/** Subject of an item in a digest. Null if there is none or it is unknown. */
export interface Subject {
  domainId: string | null
  vendor: string | null
  event: string | null
}

interface Word {
  /** In lower case. */
  text: string
  meant: { audience: Audience } | { named: Nameable }
}

const folded = (text: string) => text.normalize('NFC').toLowerCase()

/**
 * Parses a context. Names match as whole words, case-insensitively, longest first; the text of a matched name is not
 * matched again. Among equal names, domains precede labels, vendors and events. Audiences also match in the plural.
 * Other text is ignored.
 */
export function parseContext(context: string, names: readonly Nameable[]): Focus {
  let rest = folded(context)
  const found: { at: number; word: Word }[] = []
  for (const word of wordsOf(names)) {
    if (!rest.includes(word.text)) continue
    const pattern = wholeWord(word.text, 'g')
    const place = pattern.exec(rest)
    if (!place) continue
    found.push({ at: place.index, word })
    // Replaces matched text with a filler of the same length that no name contains.
    rest = rest.replaceAll(pattern, (whole) => '\0'.repeat(whole.length))
  }
  const inOrder = found.toSorted((a, b) => a.at - b.at).map(({ word }) => word.meant)
  return {
    audiences: [...new Set(inOrder.flatMap((meant) => ('audience' in meant ? [meant.audience] : [])))],
    named: inOrder.flatMap((meant) => ('named' in meant ? [meant.named] : [])),
  }
}

const KINDS: readonly Nameable['kind'][] = ['domain', 'label', 'vendor', 'event']

/** Returns the words to search for, longest first. Of equal words, only the first is used. */
function wordsOf(names: readonly Nameable[]): Word[] {
  const audiences = AUDIENCES.flatMap((audience): Word[] =>
    [audience, `${audience}s`].map((text) => ({ text, meant: { audience } })),
  )
  const own = names
    .map((named): Word => ({ text: folded(named.name).trim(), meant: { named } }))
    .filter(({ text }) => text !== '')
    .toSorted((a, b) => kindOf(a) - kindOf(b))
  const words = new Map<string, Word>()
  for (const word of [...audiences, ...own]) if (!words.has(word.text)) words.set(word.text, word)
  return [...words.values()].toSorted((a, b) => b.text.length - a.text.length)
}

const kindOf = ({ meant }: Word) => ('named' in meant ? KINDS.indexOf(meant.named.kind) : -1)

/** True if a subject matches a name. */
export function matches({ domainId, members }: Nameable, about: Subject): boolean {
  if (domainId !== undefined) return about.domainId === domainId
  return (members ?? []).some(
    ({ vendor, event }) =>
      (vendor === null || about.vendor === vendor) &&
      (event === null || about.event === event) &&
      about.vendor !== null,
  )
}

/** Index of the first name that a subject matches, or the number of names if none matches. */
export function focusRank({ named }: Focus, about: Subject): number {
  const place = named.findIndex((one) => matches(one, about))
  return place < 0 ? named.length : place
}

/** Stable sort that puts items matching the focus first. */
export function focusedFirst<T>(items: readonly T[], focus: Focus, aboutOf: (item: T) => Subject): T[] {
  return items.toSorted((a, b) => focusRank(focus, aboutOf(a)) - focusRank(focus, aboutOf(b)))
}
