/** JSON Schema 2020-12 of a form, without references, as returned by `GET /v1/forms`. */
export interface FormSchema {
  type?: string
  title?: string | undefined
  description?: string
  properties?: Readonly<Record<string, FormSchema>>
  required?: readonly string[]
  items?: FormSchema
  anyOf?: readonly FormSchema[]
  enum?: readonly unknown[]
  const?: unknown
  default?: unknown
  examples?: readonly unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  additionalProperties?: unknown
  'x-unit'?: string
  'x-order'?: number
  'x-secret'?: boolean
  /** Labels of values in `enum`. */
  'x-titles'?: Readonly<Record<string, string>>
  /** If set, ids of this provider's integrations are also valid values. */
  'x-integration'?: string
}

export type FormValue = Readonly<Record<string, unknown>>

/** Kind of input for a field. */
export type FieldKind = 'text' | 'number' | 'boolean' | 'one' | 'some' | 'texts' | 'list' | 'group' | 'shape' | 'json'

/** Returns the schema without its null alternative. */
export function withoutNull(schema: FormSchema): FormSchema {
  const shapes = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (!schema.anyOf || shapes?.length !== 1) return schema
  const { anyOf: _, ...rest } = schema
  return { ...shapes[0], ...rest }
}

/** Returns the kind of input for a schema; null for constants, which need no input. */
export function fieldKindOf(given: FormSchema): FieldKind | null {
  const schema = withoutNull(given)
  if ('const' in schema) return null
  if (schema.enum) return 'one'
  if (schema.anyOf) return schema.anyOf.every(({ const: only }) => only !== undefined) ? 'one' : 'shape'
  switch (schema.type) {
    case 'boolean':
      return 'boolean'
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
      return 'text'
    case 'object':
      return schema.properties ? 'group' : 'json'
    case 'array':
      return listKind(schema.items ?? {})
    default:
      return 'json'
  }
}

function listKind(items: FormSchema): FieldKind {
  if (items.enum) return 'some'
  return fieldKindOf(items) === 'text' ? 'texts' : 'list'
}

/** Returns the options of a select field. */
export const valuesOf = ({ enum: values, anyOf = [] }: FormSchema): unknown[] => [
  ...(values ?? anyOf.map(({ const: only }) => only)),
]

/** Returns the properties of an object, sorted by `x-order`. */
export const fieldsOf = ({ properties = {} }: FormSchema): [name: string, schema: FormSchema][] =>
  Object.entries(properties).sort(([, a], [, b]) => (a['x-order'] ?? 0) - (b['x-order'] ?? 0))

/** Returns the initial value: defaults and required properties; undefined if there are none. */
export function defaultValueOf(given: FormSchema): unknown {
  const schema = withoutNull(given)
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (schema.anyOf) return defaultValueOf(schema.anyOf[0] ?? {})
  if (schema.type === 'array')
    return schema.items && fieldKindOf(schema.items) === 'group' ? [defaultValueOf(schema.items)] : []
  if (schema.type === 'boolean') return false
  if (schema.enum) return schema.enum[0]
  if (schema.type !== 'object') return undefined
  const { required = [] } = schema
  const parts = fieldsOf(schema)
    .filter(([name, part]) => required.includes(name) || 'default' in part)
    .map(([name, part]) => [name, defaultValueOf(part)])
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined))
}

/** Returns the index of the alternative that fits a value best; 0 if none fits. */
export function shapeOf(shapes: readonly FormSchema[], value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const fits = shapes.map((shape) => {
    const parts = fieldsOf(shape)
    const isOther = parts.some(([name, part]) => 'const' in part && (value as FormValue)[name] !== part.const)
    return isOther ? -1 : parts.filter(([name]) => name in value).length
  })
  return Math.max(0, fits.indexOf(Math.max(...fits)))
}

/** Returns the property that distinguishes the alternatives, such as `kind`; null if there is none. */
export function discriminatorOf(shapes: readonly FormSchema[]): string | null {
  const [first = {}] = shapes
  const marks = fieldsOf(first).map(([name]) => name)
  const isMark = (name: string) => shapes.every(({ properties }) => properties?.[name]?.const !== undefined)
  return marks.find(isMark) ?? null
}

/** Returns the paths of all fields, spelled as in error messages: `volume.count`, `steps[0].anchor`. */
export function pathsOf(schema: FormSchema, value: unknown, path = ''): string[] {
  const own = path ? [path] : []
  const { anyOf, items, properties } = withoutNull(schema)
  if (anyOf) return [...own, ...pathsOf(anyOf[shapeOf(anyOf, value)] ?? {}, value, path).slice(own.length)]
  if (items && Array.isArray(value)) {
    return [...own, ...value.flatMap((item, index) => pathsOf(items, item, `${path}[${index}]`))]
  }
  const parts = Object.entries(properties ?? {}).flatMap(([name, part]) =>
    pathsOf(part, (value as FormValue | null | undefined)?.[name], path ? `${path}.${name}` : name),
  )
  return [...own, ...parts]
}

/** Returns the title of the first required field without a value; null if there is none. */
export function firstMissingField(given: FormSchema, value: unknown): string | null {
  const schema = withoutNull(given)
  if (value === undefined || value === '') return schema.title ?? ''
  const { anyOf, items, required = [] } = schema
  if (anyOf) return firstMissingField({ title: schema.title, ...anyOf[shapeOf(anyOf, value)] }, value)
  if (items && Array.isArray(value)) return firstText(value.map((item) => firstMissingField(items, item)))
  const parts = fieldsOf(schema).filter(([name]) => required.includes(name) || (value as FormValue)[name] !== undefined)
  return firstText(parts.map(([name, part]) => firstMissingField({ title: name, ...part }, (value as FormValue)[name])))
}

const firstText = (texts: readonly (string | null)[]) => texts.find((text) => text !== null) ?? null

/** Sets a property; removes it if the value is empty. */
export function withPart(value: FormValue, name: string, part: unknown): FormValue {
  const { [name]: _, ...rest } = value
  return part === undefined || part === '' ? rest : { ...value, [name]: part }
}
