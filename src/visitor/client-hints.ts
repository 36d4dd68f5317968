/**
 * Client hints of a page, a server or a request, in either of two shapes:
 *
 * - The values of `navigator.userAgentData`: `brands`, `mobile`, `platform`, and the high-entropy values
 *   `fullVersionList`, `model` and `formFactors`.
 * - Request headers by name, in lower case or as `Sec-CH-UA-Mobile`, with structured fields. All headers of a request
 *   can be passed.
 *
 * Other members and values of the wrong type are ignored.
 */
export type ClientHints = Readonly<Record<string, unknown>>

/** A brand and its major version; null without one. */
interface Brand {
  brand: string
  version: string | null
}

/** The hints that are used. Brands include those that Chromium invents, such as `Not)A;Brand`. */
export interface ParsedHints {
  brands: Brand[]
  /** Null if the hints don't say. */
  mobile: boolean | null
  platform: string | null
  model: string | null
  formFactors: string[]
}

/** Names of each hint in `navigator.userAgentData` and as a header. */
const NAMES = {
  fullVersionList: header('Sec-CH-UA-Full-Version-List'),
  brands: header('Sec-CH-UA'),
  mobile: header('Sec-CH-UA-Mobile'),
  platform: header('Sec-CH-UA-Platform'),
  model: header('Sec-CH-UA-Model'),
  formFactors: header('Sec-CH-UA-Form-Factors'),
} as const

/** Limits of what is read of a hint, in characters and items. */
const LENGTH_MAX = 500
const ITEMS_MAX = 10
const ITEM_LENGTH_MAX = 60

/** A quoted string of a structured field, with its parameter `v` if there is one. */
const ITEM = /"((?:[^"\\]|\\.)*)"(?:\s*;\s*v="([^"\\]*)")?/g

/**
 * Returns the hints that are used.
 *
 * @param hints null for none
 */
export function parseHints(hints: ClientHints | null): ParsedHints | null {
  if (!hints) return null
  const full = itemsOf(hintOf(hints, 'fullVersionList'))
  return {
    brands: full.length > 0 ? full : itemsOf(hintOf(hints, 'brands')),
    mobile: flagOf(hintOf(hints, 'mobile')),
    platform: textOf(hintOf(hints, 'platform')),
    model: textOf(hintOf(hints, 'model')),
    formFactors: itemsOf(hintOf(hints, 'formFactors')).map(({ brand }) => brand),
  }
}

/** Returns a text that is different for hints from which different values are read. Empty without hints. */
export function keyOfHints(hints: ClientHints | null): string {
  if (!hints) return ''
  let key = ''
  for (const name of HINTS) {
    const value = hintOf(hints, name)
    // The lengths keep a text from ending like the next one.
    if (typeof value === 'string') key += `${Math.min(value.length, LENGTH_MAX)}:${value.slice(0, LENGTH_MAX)}`
    else if (typeof value === 'boolean') key += value
    else if (Array.isArray(value))
      for (const { brand, version } of itemsOf(value)) key += `[${brand.length}:${brand}${version}`
    key += ';'
  }
  return key
}

/**
 * Returns the major version at the start of a text, 1 to 5 digits. Null for other texts and types. The result is a new
 * string, because a part of a long text keeps all of it in memory.
 */
export function majorVersion(version: unknown): string | null {
  const [digits] = (typeof version === 'string' && /^\d{1,5}/.exec(version)) || []
  return digits === undefined ? null : `${Number(digits)}`
}

type Hint = keyof typeof NAMES
const HINTS = Object.keys(NAMES) as Hint[]

function header(name: string): readonly [string, string] {
  return [name.toLowerCase(), name]
}

function hintOf(hints: ClientHints, name: Hint): unknown {
  const [lowerCase, asSent] = NAMES[name]
  return hints[name] ?? hints[lowerCase] ?? hints[asSent]
}

/** Reads a list of brands, as objects or a structured field, or a list of texts. */
function itemsOf(value: unknown): Brand[] {
  const items: Brand[] = []
  const add = (brand: unknown, version: unknown) => {
    if (typeof brand !== 'string') return
    items.push({ brand: brand.slice(0, ITEM_LENGTH_MAX), version: majorVersion(version) })
  }
  if (typeof value === 'string')
    for (const [, brand = '', version] of value.slice(0, LENGTH_MAX).matchAll(ITEM)) add(brand, version)
  else if (Array.isArray(value))
    for (const item of value.slice(0, ITEMS_MAX))
      if (typeof item === 'string') add(item, '')
      else if (typeof item === 'object' && item !== null) add(item.brand, item.version)
  return items
}

function flagOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  return value === '?1' ? true : value === '?0' ? false : null
}

/** Reads a text, in quotes if it is from a header. Null if it is empty. */
function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null
  return (
    value
      .slice(0, ITEM_LENGTH_MAX)
      .replace(/^\s*"|"\s*$/g, '')
      .trim() || null
  )
}
