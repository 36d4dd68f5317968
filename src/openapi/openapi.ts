import type { ErrorCode } from '../core/error.ts'
import { Closed, type TSchema, Type } from '../core/schema.ts'
import { maxBodyBytesOf } from '../http/body-limit.ts'
import { MAX_BODY_BYTES } from '../http/json-body.ts'
import { needsFullKey, PERMISSIONS, type Permission } from '../http/permission.ts'
import { EVENT_STREAM, type Route } from '../http/route.ts'
import { CSV, type ExportType, formatOf, NDJSON, type RowExport } from '../http/row-export.ts'
import { STATUS } from '../http/status-codes.ts'
import { exampleOf, type JsonSchema, type SchemaBook, schemaBook } from './json-schema.ts'
import { introduction, TAGS } from './openapi-text.ts'

/** The subset of OpenAPI 3.1 that the document uses: https://spec.openapis.org/oas/v3.1.0 */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: {
    title: string
    version: string
    description: string
    contact: { name: string }
    license: { name: string; identifier: string }
  }
  servers: { url: string }[]
  security: Record<string, string[]>[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, Answer>
    parameters: Record<string, Parameter>
    headers: Record<string, object>
    securitySchemes: Record<string, object>
  }
}

export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  'x-permission': Permission
  security?: Record<string, string[]>[]
  parameters?: (Parameter | Reference)[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Answer | Reference>
}

interface Reference {
  $ref: string
}
interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  style?: 'form'
  explode?: false
  schema: JsonSchema
}
interface Answer {
  description: string
  headers?: Record<string, Reference>
  content?: Content
}
type Examples = Record<string, { summary?: string; value: unknown }>
type Content = Record<string, { schema: JsonSchema; examples?: Examples }>

const ErrorSchema = Closed(
  { error: Type.String({ description: 'One sentence that states what is wrong and where' }) },
  { $id: 'Error', examples: [{ error: 'name: must not be empty' }] },
)

/** The response name, description and example message for each error code. */
const REFUSALS: Record<ErrorCode, [name: string, description: string, example: string]> = {
  invalid: [
    'BadRequest',
    'The body, query or path does not match its schema, or the caller belongs to several organizations and the request does not specify one in `X-Org-Id` (the message lists their ids)',
    'query.limit: must be at most 200',
  ],
  unauthorized: [
    'Unauthorized',
    'The credential is missing, unknown, expired or revoked',
    'unknown, expired or revoked credential',
  ],
  forbidden: [
    'Forbidden',
    'The role is too low, the key is read-only, or the setting is locked',
    'this requires the role admin; yours is viewer',
  ],
  notFound: ['NotFound', 'The object does not exist in this organization', 'no such alert'],
  conflict: [
    'Conflict',
    'The current state does not allow the request',
    'name: another domain in this organization has this name',
  ],
  tooLarge: ['TooLarge', 'The body is too large', 'body: is larger than 8388608 bytes'],
  unsupportedType: ['UnsupportedType', 'The body is not JSON', 'content-type: must be application/json'],
  rateLimited: ['TooManyRequests', 'Too many requests', 'too many requests; try again in 12 s'],
  upstream: [
    'BadGateway',
    'A remote system rejected the request; its reason is included',
    'the receiver returned status 500',
  ],
  unavailable: ['Unavailable', 'A part of the server is unavailable, or its disk is full', 'the disk is full'],
}

const HEADERS = {
  RetryAfter: { description: 'Seconds to wait before retrying', required: true, schema: { type: 'integer' } },
  Location: { description: 'URL to which the browser is redirected', schema: { type: 'string', format: 'uri' } },
  RequestId: {
    description: 'Id of the request in the log of the server: the one that was sent in this header, or a new one',
    schema: { type: 'string', maxLength: 128 },
  },
  WwwAuthenticate: { description: 'Expected authentication scheme', schema: { type: 'string', const: 'Bearer' } },
}
const header = (name: keyof typeof HEADERS): Reference => ({ $ref: `#/components/headers/${name}` })

/** Paths of routes that access no database and therefore never return 503. */
const STORELESS: ReadonlySet<string> = new Set(['/healthz'])

function refusalsOf(route: Route): Set<ErrorCode> {
  const codes = new Set<ErrorCode>(['invalid'])
  const isPublic = PERMISSIONS[route.access].from === null
  for (const code of isPublic ? [] : (['unauthorized', 'forbidden', 'rateLimited'] as const)) codes.add(code)
  if (route.params) codes.add('notFound')
  for (const code of route.body ? (['tooLarge', 'unsupportedType'] as const) : []) codes.add(code)
  if (!STORELESS.has(route.path)) codes.add('unavailable')
  for (const code of route.refusals ?? []) codes.add(code)
  return codes
}

function refusal(code: ErrorCode, book: SchemaBook): Answer {
  const [, description, error] = REFUSALS[code]
  const headers =
    code === 'rateLimited' || code === 'unavailable'
      ? { 'Retry-After': header('RetryAfter') }
      : code === 'unauthorized'
        ? { 'WWW-Authenticate': header('WwwAuthenticate') }
        : {}
  return { headers: { ...headers, 'X-Request-Id': header('RequestId') }, ...errorAnswer(description, error, book) }
}

function errorAnswer(description: string, error: string, book: SchemaBook): Answer {
  const example = { value: { error } }
  return { description, content: { 'application/json': { schema: book.refer(ErrorSchema), examples: { example } } } }
}

function contentOf(schema: TSchema, book: SchemaBook, type = 'application/json'): Content {
  const examples = examplesOf(schema)
  return { [type]: { schema: book.refer(schema), ...(examples === null ? {} : { examples }) } }
}

/** Returns the examples of a schema with at least two, keyed by `name` where they have one; null otherwise. */
function examplesOf(schema: TSchema): Examples | null {
  const several: unknown = schema.examples
  if (!Array.isArray(several) || several.length < 2) {
    const value = exampleOf(schema)
    return value === undefined ? null : { example: { value } }
  }
  const summaryOf = (value: { name?: unknown }) => (typeof value.name === 'string' ? { summary: value.name } : {})
  return Object.fromEntries(several.map((value, index) => [`example${index + 1}`, { ...summaryOf(value), value }]))
}

function parametersOf({ params, query, access, anyOrg, produces }: Route, book: SchemaBook): (Parameter | Reference)[] {
  const of = (place: 'path' | 'query', object: Route['query']) =>
    Object.entries<TSchema>(object?.properties ?? {}).map(([name, field]): Parameter => {
      // Examples are omitted because documentation pages would prefill the parameters with them and send them when a
      // user tries a call.
      const { description, examples: _, ...schema } = book.refer(field)
      const required = object?.required?.includes(name) ?? false
      return {
        name,
        in: place,
        required,
        ...(typeof description === 'string' ? { description } : {}),
        ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
        schema,
      }
    })
  const namesOrg = PERMISSIONS[access].from !== null && anyOrg !== true
  const org = namesOrg ? [{ $ref: '#/components/parameters/OrgId' }] : []
  const place = produces === EVENT_STREAM ? [{ $ref: '#/components/parameters/LastEventId' }] : []
  return [...of('path', params), ...of('query', query), ...org, ...place]
}

/**
 * Returns the description with a sentence about the required role. `x-permission` contains the permission in
 * machine-readable form.
 */
function descriptionOf(route: Route): string {
  const { description, access, credential, question } = route
  const { from } = PERMISSIONS[access]
  const own = credential ? `Credential: \`${credential.name}\`.` : 'No credential required.'
  const who = from === null ? own : `Role: ${from} or above (\`${access}\`).`
  const turns =
    question &&
    'Queries the event history. Queries of different callers take turns; a caller with too many waiting queries receives 429.'
  const lane =
    question === 'insights' &&
    'At most two such queries run at the same time. Others wait for up to 10 s and then receive 503.'
  const maxBytes = route.body === null ? MAX_BODY_BYTES : maxBodyBytesOf(route)
  const size = maxBytes !== MAX_BODY_BYTES && `The body can have at most ${maxBytes} bytes.`
  const files =
    route.exports &&
    'With `Accept: text/csv` or `application/x-ndjson`, the response contains all rows, without paging.'
  const more = [files, turns, lane, size].filter(Boolean).join(' ')
  return [description, more, `${who}${needsFullKey(access) ? ' Read-only keys are not accepted.' : ''}`]
    .filter(Boolean)
    .join('\n\n')
}

/** Undefined when the document's default security applies. */
function securityOf({ access, credential }: Route): Pick<Operation, 'security'> {
  if (PERMISSIONS[access].from !== null) return {}
  return { security: credential ? [{ [credential.name]: [] }] : [] }
}

function successOf({ answer, exports, produces, redirect, status }: Route, book: SchemaBook): Answer {
  if (redirect) return { description: 'The browser is redirected', headers: { Location: header('Location') } }
  const content = {
    ...contentOf(answer, book, produces),
    ...(exports ? exportContent(exports, exampleOf(answer), book) : {}),
  }
  return { description: status === 201 ? 'Created' : 'Success', content }
}

/** Describes the content types of an export, each with the rows of the example response. */
function exportContent({ row, rowsOf }: RowExport, example: unknown, book: SchemaBook): Content {
  const rows = example === undefined ? [] : rowsOf(example)
  const described = (type: ExportType, description: string) => {
    const { head, lineOf } = formatOf(type, row)
    const value = head + rows.map(lineOf).join('')
    return { schema: book.refer(Type.String({ description })), examples: { example: { value } } }
  }
  return {
    [CSV]: described(CSV, `Columns: ${Object.keys(row.properties).join(', ')}`),
    [NDJSON]: described(NDJSON, 'One JSON object per line'),
  }
}

function operationOf(route: Route, book: SchemaBook): Operation {
  const { id, tag, summary, access, body, answer, produces, status = 200 } = route
  const parameters = parametersOf(route, book)
  const refusals = [...refusalsOf(route)].sort((a, b) => STATUS[a] - STATUS[b])
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(route),
    'x-permission': access,
    ...securityOf(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: route.bodyOptional !== true, content: contentOf(body, book) } } : {}),
    responses: {
      ...(route.repeats ? { 200: { description: 'Already exists', content: contentOf(answer, book, produces) } } : {}),
      [status]: successOf(route, book),
      ...(route.redirect ? { default: errorAnswer('An error', 'no such route', book) } : {}),
      ...Object.fromEntries(
        refusals.map((code) => [STATUS[code], { $ref: `#/components/responses/${REFUSALS[code][0]}` }]),
      ),
    },
  }
}

function pathsOf(routes: readonly Route[], book: SchemaBook): OpenApiDocument['paths'] {
  const paths: OpenApiDocument['paths'] = {}
  const ids = new Set<string>()
  for (const route of routes) {
    const methods = paths[route.path] ?? {}
    const method = route.method.toLowerCase()
    if (ids.has(route.id)) throw new Error(`two routes have the id ${route.id}`)
    if (methods[method]) throw new Error(`two routes handle ${route.method} ${route.path}`)
    ids.add(route.id)
    paths[route.path] = { ...methods, [method]: operationOf(route, book) }
  }
  return paths
}

/**
 * Returns the tags in use: first those in `TAGS`, in their order, then the remaining ones in the order of the routes.
 */
function tagsOf(routes: readonly Route[]): OpenApiDocument['tags'] {
  const used = new Set(routes.map(({ tag }) => tag))
  const known = Object.keys(TAGS).filter((name) => used.has(name))
  return [...new Set([...known, ...used])].map((name) => {
    const description = TAGS[name]
    return { name, ...(description === undefined ? {} : { description }) }
  })
}

/**
 * Returns the OpenAPI 3.1.0 document for these routes. Throws a plain `Error` for a duplicate id, a duplicate method
 * and path, or two different schemas with the same name.
 */
export function openApiDocument(routes: readonly Route[]): OpenApiDocument {
  const book = schemaBook()
  const paths = pathsOf(routes, book)
  const codes = Object.keys(REFUSALS) as ErrorCode[]
  const responses = Object.fromEntries(codes.map((code) => [REFUSALS[code][0], refusal(code, book)]))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tagwarden',
      version: '1.0.0',
      description: introduction(),
      contact: { name: 'The operator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: tagsOf(routes),
    paths,
    components: {
      schemas: book.named(),
      responses,
      parameters: {
        OrgId: {
          name: 'X-Org-Id',
          in: 'header',
          required: false,
          description: 'Id of the organization to act in; required for users who belong to several',
          schema: { type: 'string' },
        },
        LastEventId: {
          name: 'Last-Event-ID',
          in: 'header',
          required: false,
          description: 'Id of the last received event; the stream continues after it',
          schema: { type: 'string' },
        },
      },
      headers: HEADERS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key (`ak_…`) or a session token (`st_…`)' },
        ...Object.fromEntries(
          routes.flatMap(({ credential }) => (credential ? [[credential.name, credential.scheme]] : [])),
        ),
      },
    },
  }
}
