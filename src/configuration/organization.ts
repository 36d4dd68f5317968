import { createHash } from 'node:crypto'
import type { ManagedItem } from '../managed/managed-item.ts'
import { type CallApi, listAll } from './api-client.ts'
import { fillDefaults, omitDefaults } from './defaults.ts'
import { escapeAll, type KnownValues, placeholderOf, STORED, variableName } from './placeholders.ts'
import type { Section, StoredItem } from './section.ts'
import { SECTIONS } from './sections.ts'
import { type Fields, isFields, type Referred, type SectionName, toFile } from './shape.ts'

/** An item on the server, in the form in which files contain it. */
export interface PresentItem {
  id: string
  key: string
  /** The file that manages it; null if none does. */
  file: string | null
  /** As exported: without defaults, and with placeholders for secrets. */
  exported: Fields
  /** With defaults, and with the values of the placeholders as far as they can be read. */
  compared: Fields
}

/** The configuration of an organization. */
export interface Organization {
  /** Items by key, in the order in which the server lists them. */
  items: ReadonlyMap<SectionName, ReadonlyMap<string, PresentItem>>
  /** Ids of active members, by e-mail address in lower case. */
  members: ReadonlyMap<string, string>
  /** Values of the variables in an export. */
  known: KnownValues
}

/** Reads the configuration of an organization. Rejects when the key may not read all of it. */
export async function readOrganization(call: CallApi): Promise<Organization> {
  const { role, readOnly } = await call('GET', '/v1/whoami')
  if (readOnly || !['admin', 'owner'].includes(String(role))) {
    throw new Error('the API key must be a full key of an admin or owner')
  }
  const marks = (await listAll(call, '/v1/org/managed', 'managed')) as ManagedItem[]
  const members = await readMembers(call)
  const names = new Map<string, string>([...members].map(([email, id]) => [id, email]))
  const known = new Map<string, string | typeof STORED>()
  const items = new Map<SectionName, Map<string, PresentItem>>()
  const markOf = new Map(marks.map((mark) => [mark.id, mark]))
  const stored = new Map<Section, StoredItem[]>()
  for (const section of SECTIONS) stored.set(section, await section.list(call))
  for (const [section, list] of stored) {
    for (const [key, { id }] of keyed(section, list, markOf)) names.set(`${section.name} ${id}`, key)
  }
  for (const [section, list] of stored) {
    const keyOf = (to: Referred, id: string) => names.get(to === 'members' ? id : `${to} ${id}`) ?? null
    const present = [...keyed(section, list, markOf)].map(([key, item]): [string, PresentItem] => {
      const exported = exportedItem(section, { key, item, keyOf, known })
      const file = markOf.get(item.id)?.file ?? null
      return [key, { id: item.id, key, file, exported, compared: comparedItem(section, exported, known) }]
    })
    items.set(section.name, new Map(present))
  }
  return { items, members, known }
}

async function readMembers(call: CallApi): Promise<Map<string, string>> {
  const members = await listAll(call, '/v1/org/members', 'members')
  const active = members.filter(({ status }) => status === 'active')
  return new Map(active.map(({ id, email }) => [String(email).toLowerCase(), String(id)]))
}

/** Maximum length of a derived key. */
const MAX_KEY_LENGTH = 60

/** Returns the key that an item with this name has unless a file gives it another: `purchase-without-id`. */
function keyFrom(name: string, noun: string): string {
  const words = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const slug = words.replaceAll(/[^a-z\d]+/g, '-').slice(0, MAX_KEY_LENGTH)
  const key = slug.replaceAll(/^-+|-+$/g, '')
  if (/^[a-z]/.test(key)) return key
  const first = noun.replaceAll(' ', '-')
  return key ? `${first}-${key}` : first
}

/** Returns the items by key. An item without a mark gets a key from its name, which no other item has. */
function keyed(
  section: Section,
  list: readonly StoredItem[],
  marks: ReadonlyMap<string, ManagedItem>,
): Map<string, StoredItem> {
  const found = new Map<string, StoredItem>()
  const taken = new Set<string>()
  for (const { id } of list) {
    const key = marks.get(id)?.key
    if (key !== undefined) taken.add(key)
  }
  for (const item of list) {
    const marked = marks.get(item.id)?.key
    const isFree = marked !== undefined && !found.has(marked)
    const key = isFree ? marked : freeKey(keyFrom(item.name, section.noun), (one) => taken.has(one) || found.has(one))
    found.set(key, item)
  }
  return found
}

function freeKey(key: string, isTaken: (key: string) => boolean): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? key : `${key}-${number}`
    if (!isTaken(candidate)) return candidate
  }
}

interface Exporting {
  key: string
  item: StoredItem
  keyOf(to: Referred, id: string): string | null
  /** Values of placeholders, which this function adds. */
  known: Map<string, string | typeof STORED>
}

function exportedItem(section: Section, { key, item, keyOf, known }: Exporting): Fields {
  const target = ({ type, target }: Fields) => {
    const text = String(target)
    if (!/^https?:\/\//.test(text)) return target
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 6)
    const variable = variableName(String(type), 'url', hash)
    known.set(variable, text)
    return placeholderOf(variable)
  }
  const { secrets, isSensitive } = section
  const fields = toFile(section.shape, escapeAll(item.fields) as Fields, { keyOf, target })
  if (secrets) {
    const hidden: Fields = {}
    const isHidden = (name: string) => isSensitive?.(item.fields, name) ?? false
    const own = (item.fields[secrets.field] ?? {}) as Fields
    for (const name of [...Object.keys(own).filter(isHidden), ...(item.secrets ?? [])]) {
      const variable = variableName(key, name)
      known.set(variable, isHidden(name) ? String(own[name]) : STORED)
      hidden[name] = placeholderOf(variable)
    }
    const given = fields[secrets.field]
    const all = { ...(isFields(given) ? given : {}), ...hidden }
    if (Object.keys(all).length > 0) fields[secrets.field] = all
  }
  return ordered(section, omitDefaults(defaultsOf(section, fields), normalised(section, fields)))
}

/** Returns the defaults of a section, also of the settings that depend on the item. */
const defaultsOf = (section: Section, fields: Fields): Fields => {
  const { config } = section.normalise?.({ ...fields, config: {} }) ?? {}
  return section.name === 'integrations' ? { ...section.defaults, config } : section.defaults
}

const normalised = (section: Section, fields: Fields): Fields => section.normalise?.(fields) ?? fields

/** Returns the fields in the order of the schema, and those of nested objects as they are. */
function ordered({ input, shape }: Section, fields: Fields): Fields {
  const order = Object.keys(input.properties).map((name) => {
    const field = shape[name]
    return field && 'ref' in field ? field.as : name
  })
  const positionOf = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => positionOf(a) - positionOf(b)))
}

/** Returns an item with defaults, and with the values of placeholders. */
function comparedItem(section: Section, exported: Fields, known: KnownValues): Fields {
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const variable = /^\$\{(\w+)\}$/.exec(value)?.[1]
      if (variable !== undefined && known.has(variable)) return known.get(variable)
      return value.replace(/\$(\$+\{[A-Za-z_]\w*\})/g, '$1')
    }
    if (Array.isArray(value)) return value.map(fill)
    return isFields(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one)])) : value
  }
  return fillDefaults(section.defaults, normalised(section, fill(exported) as Fields))
}
