import { isJsonObject } from '../core/parse-json-object.ts'
import type { TSchema } from '../core/schema.ts'

/** The sections of a configuration file, in the order in which they are created. */
export const SECTION_NAMES = [
  'domains',
  'projects',
  'integrations',
  'labels',
  'calendars',
  'maintenance',
  'alerts',
  'flowTests',
  'ownership',
  'escalation',
  'orderCapture',
] as const
export type SectionName = (typeof SECTION_NAMES)[number]

/** Targets of references: items of a section, by key, and members, by e-mail address. */
export type Referred = SectionName | 'members'

export type Fields = Record<string, unknown>

/** How the fields of an item differ between the API and the file. Other fields are the same. */
export interface Shape {
  [apiField: string]: FieldShape
}
type FieldShape =
  /** An id, or a list of ids, in the API; a key, or a list of keys, in the file. */
  | { ref: Referred; as: string; isList?: true }
  /** Notification channels: an integration is named by its key. */
  | { channels: true }
  /** Milliseconds in the API, ISO 8601 in the file. */
  | { instant: true }
  | { object: Shape }
  | { list: Shape }

export const CHANNELS: FieldShape = { channels: true }

/** Target that is an integration, optionally with a detail such as the key of a project. */
const INTEGRATION_TARGET = /^(int_[a-z0-9]+)(?::(.+))?$/s

export const isFields: (value: unknown) => value is Fields = isJsonObject

/** Returns the key of an item, or the e-mail address of a member; null for an unknown id. */
type KeyOf = (to: Referred, id: string) => string | null
interface ToApi {
  /** Returns the id for a key. `path`: the field in the file. */
  idOf(to: Referred, key: string, path: string): string
  /** Called for a field that has another name in the file than in the API. The field is omitted. */
  misnamed?(path: string, name: string): void
}

/** Converts an item as in the API to an item as in the file. `target` replaces a target that is not an integration. */
export function toFile(shape: Shape, item: Fields, parts: { keyOf: KeyOf; target(channel: Fields): unknown }): Fields {
  const channelOf = (channel: Fields): Fields => {
    const [, id = '', detail] = INTEGRATION_TARGET.exec(String(channel.target)) ?? []
    const integration = id ? parts.keyOf('integrations', id) : null
    if (integration === null) return { ...channel, target: parts.target(channel) }
    return { type: channel.type, integration, ...(detail === undefined ? {} : { project: detail }) }
  }
  const entries = Object.entries(item).map(([name, value]): [string, unknown] => {
    const field = shape[name]
    if (field === undefined) return [name, value]
    if ('ref' in field) {
      // An id without a key belongs to an item that has been deleted.
      const keyOf = (id: unknown) => (id === null ? null : (parts.keyOf(field.ref, String(id)) ?? id))
      return [field.as, Array.isArray(value) ? value.map(keyOf) : keyOf(value)]
    }
    if ('instant' in field) return [name, new Date(Number(value)).toISOString().replace('.000Z', 'Z')]
    if ('channels' in field) return [name, Array.isArray(value) ? value.map(channelOf) : value]
    if ('list' in field)
      return [name, Array.isArray(value) ? value.map((one) => toFile(field.list, one, parts)) : value]
    return [name, isFields(value) ? toFile(field.object, value, parts) : value]
  })
  return Object.fromEntries(entries)
}

/** Converts an item as in the file to an item as in the API. Values of other types are returned for the schema to check. */
export function toApi(shape: Shape, item: Fields, parts: ToApi, path = ''): Fields {
  const renamed = new Map(Object.entries(shape).flatMap(([name, field]) => ('ref' in field ? [[field.as, name]] : [])))
  const entries = Object.entries(item).map(([given, value]): [string, unknown] => {
    const name = renamed.get(given) ?? given
    const field = shape[name]
    const at = path ? `${path}.${given}` : given
    if (field && 'ref' in field && given !== field.as) {
      parts.misnamed?.(at, field.as)
      return [given, undefined]
    }
    if (field === undefined) return [name, value]
    if ('ref' in field) {
      const idAt = (key: unknown, path: string) => (typeof key === 'string' ? parts.idOf(field.ref, key, path) : key)
      return [name, Array.isArray(value) ? value.map((key, n) => idAt(key, `${at}[${n}]`)) : idAt(value, at)]
    }
    if ('instant' in field) return [name, typeof value === 'string' ? instantOf(value) : value]
    const each = (one: unknown, n: number, convert: (fields: Fields, path: string) => Fields) =>
      isFields(one) ? convert(one, `${at}[${n}]`) : one
    if ('channels' in field) {
      const list = Array.isArray(value) ? value : null
      return [
        name,
        list ? list.map((one, n) => each(one, n, (channel, path) => toTarget(channel, parts, path))) : value,
      ]
    }
    if ('list' in field) {
      const list = Array.isArray(value) ? value : null
      return [name, list ? list.map((one, n) => each(one, n, (f, path) => toApi(field.list, f, parts, path))) : value]
    }
    return [name, isFields(value) ? toApi(field.object, value, parts, at) : value]
  })
  return Object.fromEntries(entries)
}

function toTarget({ integration, project, ...channel }: Fields, { idOf }: ToApi, path: string): Fields {
  if (typeof integration !== 'string') return integration === undefined ? channel : { ...channel, integration }
  const id = idOf('integrations', integration, `${path}.integration`)
  return { ...channel, target: project === undefined ? id : `${id}:${project}` }
}

/** Returns the text itself if it is not an instant, for the schema to reject. */
function instantOf(text: string): unknown {
  const instant = /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(instant) ? text : instant
}

/** Converts the path of a field in an error of the API to the path in the file. */
export function filePathOf(shape: Shape, path: readonly (string | number)[]): (string | number)[] {
  const [name, ...rest] = path
  const field = typeof name === 'string' ? shape[name] : undefined
  if (name === undefined) return []
  if (field === undefined) return [name, ...rest]
  if ('ref' in field) return [field.as, ...rest]
  if ('list' in field) {
    const [index, ...inner] = rest
    return index === undefined ? [name] : [name, index, ...filePathOf(field.list, inner)]
  }
  return 'object' in field ? [name, ...filePathOf(field.object, rest)] : [name, ...rest]
}

/** Returns the schema of an item in the file. `schemaOf` converts the schema of a field that is the same in both. */
export function fileProperties(
  shape: Shape,
  properties: Record<string, TSchema>,
  required: readonly string[],
  schemaOf: (schema: TSchema) => Fields,
): { properties: Fields; required: string[] } {
  const named: [string, Fields][] = []
  const needed: string[] = []
  for (const [name, schema] of Object.entries(properties)) {
    const field = shape[name]
    const isRef = field !== undefined && 'ref' in field
    named.push([isRef ? field.as : name, fileSchemaOf(field, schema, schemaOf)])
    if (required.includes(name)) needed.push(isRef ? field.as : name)
  }
  return { properties: Object.fromEntries(named), required: needed }
}

function fileSchemaOf(field: FieldShape | undefined, schema: TSchema, schemaOf: (schema: TSchema) => Fields): Fields {
  if (field === undefined) return schemaOf(schema)
  if ('ref' in field) {
    const what = field.ref === 'members' ? 'E-mail address of a member' : `Key of an item of \`${field.ref}\``
    const one = { type: ['string', 'null'], description: what }
    return field.isList ? { type: ['array', 'null'], items: { type: 'string' }, description: `${what}, several` } : one
  }
  if ('instant' in field) {
    return { type: 'string', format: 'date-time', description: schema.description, examples: ['2026-01-06T02:00:00Z'] }
  }
  if ('channels' in field) {
    const { minItems, maxItems, description } = schema
    return { ...defined({ minItems, maxItems, description }), type: 'array', items: { $ref: '#/$defs/FileChannel' } }
  }
  const inner = (shape: Shape, of: TSchema): Fields => ({
    ...defined({ description: of.description }),
    type: 'object',
    additionalProperties: false,
    ...fileProperties(shape, of.properties ?? {}, of.required ?? [], schemaOf),
  })
  if ('object' in field) return inner(field.object, schema)
  const { minItems, maxItems, description } = schema
  return { ...defined({ minItems, maxItems, description }), type: 'array', items: inner(field.list, schema.items) }
}

const defined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
