import type { KeyReference, ValueKind } from './decoder.ts'
import { decoders } from './index.ts'

/** The documented meaning of a key. */
export interface KeyMeaning {
  /** Kind of the values; null if unknown. */
  kind: ValueKind | null
  meaning: string
  /** URL of the public page that describes the key; null for a key that Tagwarden adds. */
  reference: string | null
}

/** Keys that Tagwarden adds to the events of all vendors. */
const ADDED: readonly [prefix: string, KeyMeaning][] = [
  ['consent.', { kind: 'code', meaning: 'Consent stated in the request', reference: null }],
]

/** A key that names an identifier: `order_id`, `userId`, `content.ids.0`. */
const NAMES_IDENTIFIER =
  /(?:^|[._\-[])(?:u|gu|uu)?ids?\]?(?:[.[]\d+\]?)?$|[a-z](?:Id|ID|Ids|IDs|UUID|GUID)(?:[.[]\d+\]?)?$/

/** The meanings of one vendor's keys. */
class Glossary {
  private readonly exact = new Map<string, KeyMeaning>()
  /** Meanings of keys that begin with a text, the longest first. */
  private readonly prefixes: (readonly [string, KeyMeaning])[] = []

  constructor(references: readonly KeyReference[]) {
    for (const { url, meanings } of references) {
      for (const [key, [kind, meaning]] of Object.entries(meanings)) {
        const entry = { kind, meaning, reference: url }
        if (key.endsWith('*')) this.prefixes.push([key.slice(0, -1), entry])
        else if (!this.exact.has(key)) this.exact.set(key, entry)
      }
    }
    this.prefixes.sort(([a], [b]) => b.length - a.length)
  }

  find(key: string): KeyMeaning | undefined {
    const general = key.replace(/\d+/g, '#')
    return (
      this.exact.get(key) ??
      this.exact.get(general) ??
      // An element of a list has the meaning of the list.
      this.exact.get(general.replace(/\.#$/, '')) ??
      this.prefixes.find(([prefix]) => general.startsWith(prefix) && key.length > prefix.length)?.[1]
    )
  }
}

const glossaries = new Map(
  decoders.flatMap(({ vendor, keys }) => (keys ? [[vendor, new Glossary(keys)] as const] : [])),
)

/** Returns the meaning of a vendor's key; null if it is not documented. */
export function meaningOf(vendor: string, key: string): KeyMeaning | null {
  const added = ADDED.find(([prefix]) => key.startsWith(prefix))?.[1]
  return added ?? glossaries.get(vendor)?.find(key) ?? null
}

/** Returns the kind of a key's values, from its meaning or otherwise its name; null if unknown. */
export function kindOf(vendor: string, key: string): ValueKind | null {
  return meaningOf(vendor, key)?.kind ?? (NAMES_IDENTIFIER.test(key) ? 'identifier' : null)
}
