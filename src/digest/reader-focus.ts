import { wholeWord } from '../core/text.ts'

/** For whom a digest is: what they want to see first, and in which words. */
export const AUDIENCES = ['executive', 'marketing', 'developer', 'privacy'] as const
export type Audience = (typeof AUDIENCES)[number]

/** What a context can name. `members`: the events that it means, as in a label; empty for a domain. */
export interface Nameable {
  kind: 'domain' | 'vendor' | 'event' | 'label'
  name: string
  /** Of a domain. */
  domainId?: string
  /** Of the others: a vendor null means any, an event null means every event of the vendor. */
  members?: readonly { vendor: string | null; event: string | null }[]
}

/** What a context names, in the order in which it stands there. */
export interface Focus {
  /** Each once; the first decides the words. */
  audiences: readonly Audience[]
  /** Each once. */
  named: readonly Nameable[]
}

/** What something in a digest is about; null: it is about none, or not known. */
export interface Subject {
  domainId: string | null
  vendor: string | null
  event: string | null
}

interface Word {
  /** In small letters. */
  text: string
  meant: { audience: Audience } | { named: Nameable }
}

const folded = (text: string) => text.normalize('NFC').toLowerCase()

/**
 * Reads a context. Names are found whatever their case, as whole words, the longest first: what is part of a longer name is not
 * found a second time. Of the same name, domains come before labels, vendors and events. Audiences are found in the plural,
 * too. Everything else in the text means nothing.
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
    // What was found leaves a mark that belongs to no name, of the same length.
    rest = rest.replaceAll(pattern, (whole) => '\0'.repeat(whole.length))
  }
  const inOrder = found.toSorted((a, b) => a.at - b.at).map(({ word }) => word.meant)
  return {
    audiences: [...new Set(inOrder.flatMap((meant) => ('audience' in meant ? [meant.audience] : [])))],
    named: inOrder.flatMap((meant) => ('named' in meant ? [meant.named] : [])),
  }
}

const KINDS: readonly Nameable['kind'][] = ['domain', 'label', 'vendor', 'event']

/** The longest first; of two with the same text only the first counts. */
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

/** True when something is about what is named. */
export function matches({ domainId, members }: Nameable, about: Subject): boolean {
  if (domainId !== undefined) return about.domainId === domainId
  return (members ?? []).some(
    ({ vendor, event }) =>
      (vendor === null || about.vendor === vendor) &&
      (event === null || about.event === event) &&
      about.vendor !== null,
  )
}

/** The place of the first named thing that something is about; behind all of them when it is about none. */
export function focusRank({ named }: Focus, about: Subject): number {
  const place = named.findIndex((one) => matches(one, about))
  return place < 0 ? named.length : place
}

/** The same in another order: what is named comes first; else they stay in theirs. */
export function focusedFirst<T>(items: readonly T[], focus: Focus, aboutOf: (item: T) => Subject): T[] {
  return items.toSorted((a, b) => focusRank(focus, aboutOf(a)) - focusRank(focus, aboutOf(b)))
}
