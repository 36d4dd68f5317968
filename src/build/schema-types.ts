import type { JsonSchema } from '../openapi/json-schema.ts'

/** The keywords of JSON Schema that determine a type. The others restrict its values. */
interface TypeKeywords {
  $ref?: string
  anyOf?: JsonSchema[]
  const?: unknown
  enum?: unknown[]
  type?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: JsonSchema | boolean
  items?: JsonSchema
  description?: string
}

/** Returns the TypeScript type of a schema in the API description. Throws for a schema that it can't express. */
export function typeOf(described: JsonSchema): string {
  const schema: TypeKeywords = described
  if (schema.$ref !== undefined) return schema.$ref.replace(/^.*\//, '')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  switch (schema.type) {
    case 'object':
      return objectType(schema.properties ?? {}, schema.required ?? [], schema.additionalProperties)
    case 'array':
      return `Array<${typeOf(schema.items ?? {})}>`
    case 'integer':
      return 'number'
    case 'number':
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case undefined:
      return 'unknown'
    default:
      throw new Error(`unknown type in the API description: ${JSON.stringify(schema)}`)
  }
}

/** Returns the type of an object. `others`: the schema of further properties; true for any, false for none. */
export function objectType(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  others: JsonSchema | boolean = false,
): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    const { description }: TypeKeywords = schema
    const about = description ? `/** ${description.replaceAll('*/', '* /')} */ ` : ''
    return `${about}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`
  })
  if (others !== false)
    members.push(`[key: string]: ${members.length > 0 || others === true ? 'unknown' : typeOf(others)}`)
  return members.length > 0 ? `{ ${members.join('; ')} }` : '{ [key: string]: never }'
}
