import { expect } from 'bun:test'
import fc from 'fast-check'
import type { Answer } from '../fixtures.ts'
import type { TestApp } from '../test-app.ts'
import { errorsOf, type JsonSchema, valid } from './json-schema.ts'

/** A route as the program describes it to others, with every reference followed. */
export interface Route {
  id: string
  method: string
  path: string
  /** `POST /v1/alerts`. */
  name: string
  /** Undefined when the description names none. */
  permission: unknown
  /** True when the description says that no credential is needed. */
  isPublic: boolean
  /** Of its path and its query; not headers. */
  parameters: readonly Parameter[]
  /** Of what it takes; null when it takes nothing. */
  body: JsonSchema | null
  /** False when it also takes an empty body, and when it takes none. */
  bodyRequired: boolean
  /** The largest body that it takes. */
  maxBodyBytes: number
  /** A body for instance, as the description gives it; undefined when it takes none. */
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

/** An operation of the document, with every reference followed. */
interface Operation {
  operationId: string
  description?: string
  'x-permission'?: unknown
  security?: unknown[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Response>
}
/** Of a body whose description names no other limit. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

interface Document {
  paths: Record<string, Record<string, Operation>>
}

const names = new WeakMap<object, string>()

/** The name under which the document has a schema; null for one that stands only where it is used. */
const nameOf = (schema: JsonSchema): string | null => names.get(schema) ?? null

/** The document with what is referred to in the place of each `$ref`. */
function followed(document: Record<string, unknown>): Document {
  const targets = new Map<string, unknown>()
  const target = (ref: string): unknown => {
    if (!targets.has(ref)) {
      const parts = ref.replace(/^#\//, '').split('/')
      const found = parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document)
      if (found === undefined) throw new Error(`${ref} is nowhere in the document`)
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

/** All that `/openapi.json` describes, in its order. */
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

/** For `test.each('%s')`. */
export const named = (routes: readonly Route[]) => routes.map((route) => [route.name, route] as const)

/** What stands in a path beside ids, by name. */
const OTHER_PARTS: Readonly<Record<string, string>> = { hostname: 'shop.example', token: 'guessed', index: '0' }

/** The path of a route with an id of each thing, and other parts by name; each as it stands in a URL. */
export function pathOf({ path }: Route, ids: Record<string, string>, others: Record<string, string> = {}): string {
  return path.replaceAll(/([^/]+)\/\{(\w+)\}/g, (_, noun: string, name: string) => {
    const value = others[name] ?? (name === 'id' ? ids[noun] : OTHER_PARTS[name])
    if (value === undefined) throw new Error(`there is no {${name}} of ${noun}: make one in test/api/two-tenants.ts`)
    return `${noun}/${value}`
  })
}

/** True for a route that can't be asked without naming a domain in its query. */
export const needsDomain = ({ parameters }: Route): boolean =>
  parameters.some((one) => one.in === 'query' && one.required && one.name === 'domainId')

/** What the ids of a path are of: `alerts`. */
export const nounsOf = ({ path }: Route): string[] =>
  [...path.matchAll(/([^/]+)\/\{id\}/g)].map(([, noun = '']) => noun)

/** Fails unless the answer is one that the description of the route promises. */
export function checkAnswer(route: Route, { status, headers, body }: Answer): void {
  const response = route.responses[status]
  if (!response) throw new Error(`${route.name} answers ${status}, which is not described: ${JSON.stringify(body)}`)
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

/** Fails unless it is the one shape of an error, in plain words. */
export function checkError(body: unknown): void {
  expect(body).toEqual({ error: expect.stringMatching(/\S/) })
  // Nothing of the machine's inside: no stack, no SQL, no path.
  expect((body as { error: string }).error).not.toMatch(/\n\s+at |SELECT |INSERT |UPDATE |SQLITE|\/src\/|node_modules/)
}

/** A body that is taken, with some of its fields as the schema allows them. */
export function nearlyTaken(schema: JsonSchema, plain: object): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => {
    const present = (plain as Record<string, unknown>)[name]
    const [item] = Array.isArray(present) ? (present as object[]) : []
    const items = inner.items && nameOf(inner.items) ? inner.items : null
    const value = items && item ? fc.array(nearlyTaken(items, item), { minLength: 1, maxLength: 5 }) : valid(inner)
    return value.map((one) => ({ [name]: one }))
  })
  const changed = fc.array(fc.oneof(...fields), { minLength: 1, maxLength: 2 })
  return changed.map((changes) => Object.assign({}, plain, ...changes))
}
