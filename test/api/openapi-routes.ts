import { expect } from 'bun:test'
import fc from 'fast-check'
import type { Answer } from '../fixtures.ts'
import type { TestApp } from '../test-app.ts'
import { errorsOf, type JsonSchema, valid } from './json-schema.ts'

/** A route of the OpenAPI document with all references resolved. */
export interface Route {
  id: string
  method: string
  path: string
  /** Method and path, such as `POST /v1/alerts`. */
  name: string
  /** Undefined if the document names no permission. */
  permission: unknown
  /** True when the route requires no credential. */
  isPublic: boolean
  /** Path and query parameters, without headers. */
  parameters: readonly Parameter[]
  /** Schema of the request body; null if the route has no body. */
  body: JsonSchema | null
  /** False if the body is optional or the route has none. */
  bodyRequired: boolean
  /** Maximum size of the body in bytes. */
  maxBodyBytes: number
  /** The example body; undefined if the route has no body. */
  example: unknown
  responses: Readonly<Record<string, Response>>
}
interface Parameter {
  name: string
  in: string
  required: boolean
  schema: JsonSchema
}
interface Response {
  headers?: Record<string, { required?: boolean; schema: JsonSchema }>
  content?: Content
}
type Content = Record<string, { schema: JsonSchema; examples?: Record<string, { value: unknown }> }>

/** An operation of the document with all references resolved. */
interface Operation {
  operationId: string
  description?: string
  'x-permission'?: unknown
  security?: unknown[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Response>
}
/** Default maximum size of a body in bytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

interface Document {
  paths: Record<string, Record<string, Operation>>
}

const names = new WeakMap<object, string>()

/** Returns the name of a component schema; null for an inline schema. */
const nameOf = (schema: JsonSchema): string | null => names.get(schema) ?? null

/** Returns the document with each `$ref` replaced by its target. */
function followed(document: Record<string, unknown>): Document {
  const targets = new Map<string, unknown>()
  const target = (ref: string): unknown => {
    if (!targets.has(ref)) {
      const parts = ref.replace(/^#\//, '').split('/')
      const found = parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document)
      if (found === undefined) throw new Error(`unresolved reference ${ref}`)
      const value = follow(found)
      targets.set(ref, value)
      names.set(value as object, parts.at(-1) ?? '')
    }
    return targets.get(ref)
  }
  const follow = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(follow)
    if (typeof value !== 'object' || value === null) return value
    if ('$ref' in value) return target(String(value.$ref))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, follow(inner)]))
  }
  return { paths: follow(document.paths) as Document['paths'] }
}

/** Returns all routes of `/openapi.json` in document order. */
export async function describedRoutes(world: TestApp): Promise<Route[]> {
  const { body } = await world.call('GET', '/openapi.json', { as: null })
  return Object.entries(followed(body).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Route => {
      const content = operation.requestBody?.content['application/json']
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        name: `${method.toUpperCase()} ${path}`,
        permission: operation['x-permission'],
        maxBodyBytes: Number(/at most (\d+) bytes/.exec(operation.description ?? '')?.[1] ?? MAX_BODY_BYTES),
        isPublic: operation.security !== undefined,
        parameters: (operation.parameters ?? []).filter((one) => one.in !== 'header'),
        body: content?.schema ?? null,
        bodyRequired: operation.requestBody?.required ?? false,
        example: Object.values(content?.examples ?? {})[0]?.value,
        responses: operation.responses,
      }
    }),
  )
}

/** Returns rows for `test.each` with a title that contains `%s`. */
export const named = (routes: readonly Route[]) => routes.map((route) => [route.name, route] as const)

/** Values of path parameters other than ids, by parameter name. */
const OTHER_PARTS: Readonly<Record<string, string>> = {
  hostname: 'shop.example',
  token: 'guessed',
  index: '0',
  commentId: 'cmt_none',
}

/**
 * Returns the path of a route with its parameters replaced: ids by kind, others by name. All values are URL-encoded.
 */
export function pathOf({ path }: Route, ids: Record<string, string>, others: Record<string, string> = {}): string {
  return path.replaceAll(/([^/]+)\/\{(\w+)\}/g, (_, noun: string, name: string) => {
    const value = others[name] ?? (name === 'id' ? ids[noun] : OTHER_PARTS[name])
    if (value === undefined)
      throw new Error(
        `no value for {${name}} of ${noun}: add it to MAKERS in test/api/valid-calls.ts or to OTHER_PARTS`,
      )
    return `${noun}/${value}`
  })
}

/** True when the route requires a domain in its query. A comparison requires one unless it compares domains. */
export const needsDomain = ({ id, parameters }: Route): boolean =>
  id === 'compareTraffic' || parameters.some((one) => one.in === 'query' && one.required && one.name === 'domainId')

/** Returns the kinds of ids in a path, such as `alerts` in `/v1/alerts/{id}`. */
export const nounsOf = ({ path }: Route): string[] =>
  [...path.matchAll(/([^/]+)\/\{id\}/g)].map(([, noun = '']) => noun)

/** Throws unless the route documents the status and format of this response. */
export function checkAnswer(route: Route, { status, headers, body }: Answer): void {
  const response = route.responses[status]
  if (!response) throw new Error(`${route.name} returns the undocumented status ${status}: ${JSON.stringify(body)}`)
  for (const [name, { required = false, schema }] of Object.entries(response.headers ?? {})) {
    const text = headers.get(name)
    if (text === null && !required) continue
    expect([name, text, errorsOf(schema, /^\d+$/.test(text ?? '') ? Number(text) : text)]).toEqual([name, text, []])
  }
  const [[type = '', { schema }] = ['', { schema: {} }]] = Object.entries(response.content ?? {})
  expect([route.name, headers.get('content-type')?.split(';')[0]]).toEqual([route.name, type.split(';')[0]])
  expect([route.name, status, errorsOf(schema, body)]).toEqual([route.name, status, []])
  if (status >= 400) checkError(body)
}

/** Throws unless the body is `{"error": string}` and reveals no internal details. */
export function checkError(body: unknown): void {
  expect(body).toEqual({ error: expect.stringMatching(/\S/) })
  // The message must not contain a stack trace, SQL or a file path.
  expect((body as { error: string }).error).not.toMatch(/\n\s+at |SELECT |INSERT |UPDATE |SQLITE|\/src\/|node_modules/)
}

/** Generates bodies in which some fields have other values, which the schema allows. */
export function almostValid(schema: JsonSchema, plain: object): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => {
    const present = (plain as Record<string, unknown>)[name]
    const [item] = Array.isArray(present) ? (present as object[]) : []
    const items = inner.items && nameOf(inner.items) ? inner.items : null
    const value = items && item ? fc.array(almostValid(items, item), { minLength: 1, maxLength: 5 }) : valid(inner)
    return value.map((one) => ({ [name]: one }))
  })
  const changed = fc.array(fc.oneof(...fields), { minLength: 1, maxLength: 2 })
  return changed.map((changes) => Object.assign({}, plain, ...changes))
}
