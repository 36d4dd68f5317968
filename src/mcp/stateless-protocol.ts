import {
  ErrorCode,
  SUPPORTED_PROTOCOL_VERSIONS as HANDSHAKE_REVISIONS,
  type Implementation,
} from '@modelcontextprotocol/sdk/types.js'

import { AppError } from '../core/error.ts'
import { isJsonObject } from '../core/parse-json-object.ts'
import { parser, Type } from '../core/schema.ts'
import { API_HEADERS } from '../http/headers.ts'
import { CAPABILITIES } from './handshake-server.ts'
import { INSTRUCTIONS } from './mcp-instructions.ts'
import { type Methods, RESOURCE_NOT_FOUND, RpcError } from './rpc-methods.ts'

/*
 * Revision 2026-07-28 of the Model Context Protocol over streamable HTTP. It has no handshake: each request specifies
 * its revision and the client's capabilities in `_meta`, and repeats the revision, method and name in headers.
 *
 * Sources: https://modelcontextprotocol.io/specification/2026-07-28 with the sections /basic (`_meta`, error codes),
 * /basic/versioning, /basic/transports/streamable-http (headers, status codes), /server/discover, /server/tools and
 * /server/utilities/caching, and
 * https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/2026-07-28/schema.ts.
 */

/** The protocol revision without a handshake. */
const REVISION = '2026-07-28'
/** All supported revisions, newest first. */
const REVISIONS = [REVISION, ...HANDSHAKE_REVISIONS]

/** Error codes introduced by this revision. */
const HEADER_MISMATCH = -32020
const UNSUPPORTED_VERSION = -32022

const PREFIX = 'io.modelcontextprotocol/'
const VERSION_KEY = `${PREFIX}protocolVersion`

/** Time for which clients may cache lists. These change only with a new server version or another role. */
const LIST_TTL_MS = 300_000

/** By method, the parameter that the `Mcp-Name` header repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'resources/read': 'uri',
  'prompts/get': 'name',
}

const open = { additionalProperties: true }
const checkMeta = parser(
  Type.Object(
    {
      [VERSION_KEY]: Type.String(),
      [`${PREFIX}clientCapabilities`]: Type.Object({}, open),
      [`${PREFIX}clientInfo`]: Type.Optional(Type.Object({ name: Type.String(), version: Type.String() }, open)),
    },
    open,
  ),
)
const checkCall = parser(Type.Object({ name: Type.String(), arguments: Type.Optional(Type.Object({}, open)) }, open))
const checkRead = parser(Type.Object({ uri: Type.String() }, open))

type Fields = Record<string, unknown>

const versionIn = (message: unknown): unknown => {
  if (!isJsonObject(message) || !isJsonObject(message.params) || !isJsonObject(message.params._meta)) return undefined
  return message.params._meta[VERSION_KEY]
}

/** True when the headers show that the client expects errors in the format of this revision. */
export function namesStateless(headers: Headers): boolean {
  return headers.get('mcp-protocol-version')?.trim() === REVISION
}

/**
 * True when the message must be handled according to this revision, because it specifies this revision or an
 * unsupported one. An `initialize` without `_meta` always starts a handshake, regardless of the headers.
 */
export function isStateless(headers: Headers, body: unknown): boolean {
  const header = headers.get('mcp-protocol-version')?.trim()
  const foreign = (version: unknown) =>
    version !== undefined && !HANDSHAKE_REVISIONS.some((revision) => revision === version)
  if (Array.isArray(body)) return body.some((message) => foreign(versionIn(message))) || foreign(header)
  const claimed = versionIn(body)
  if (claimed !== undefined) return foreign(claimed)
  if (isJsonObject(body) && body.method === 'initialize') return false
  return foreign(header)
}

/** Handles a single message of this revision. */
export async function answerStateless(
  headers: Headers,
  body: unknown,
  identity: Implementation,
  methods: Methods,
): Promise<Response> {
  const id = idOf(body)
  try {
    const { method, params } = requestOf(headers, body)
    if (id === null) return new Response(null, { status: 202, headers: API_HEADERS })
    checkHeaders(headers, method, params)
    checked(() => checkMeta(params._meta, 'params._meta'))
    const result = await resultOf(method, params, methods)
    return response(200, {
      jsonrpc: '2.0',
      id,
      result: { resultType: 'complete', ...result, _meta: { [`${PREFIX}serverInfo`]: identity } },
    })
  } catch (error) {
    if (error instanceof HttpRpcError) return errorResponse(error.status, error, id)
    // Errors of the method are sent with status 200, because the HTTP request itself succeeded.
    if (error instanceof RpcError) return errorResponse(200, error, id)
    throw error
  }
}

/** Returns the response for an unreadable body: a JSON-RPC error without an id. */
export function unreadable(status: number, message: string): Response {
  return errorResponse(status, new RpcError(ErrorCode.ParseError, message), null)
}

/** An error for which the specification requires a specific HTTP status. */
class HttpRpcError extends RpcError {
  constructor(
    readonly status: number,
    code: number,
    message: string,
    data?: unknown,
  ) {
    super(code, message, data)
  }
}

const HEADERS = { ...API_HEADERS, 'content-type': 'application/json' }

const response = (status: number, body: object) => Response.json(body, { status, headers: HEADERS })

function errorResponse(status: number, { code, message, data }: RpcError, id: string | number | null): Response {
  // This revision has no error code for missing resources.
  const error = { code: code === RESOURCE_NOT_FOUND ? ErrorCode.InvalidParams : code, message, data }
  return response(status, { jsonrpc: '2.0', ...(id === null ? {} : { id }), error })
}

function idOf(body: unknown): string | number | null {
  const id = isJsonObject(body) ? body.id : null
  return typeof id === 'string' || Number.isInteger(id) ? (id as string | number) : null
}

const malformed = (message: string) => new HttpRpcError(400, ErrorCode.InvalidRequest, message)
const mismatch = (message: string) => new HttpRpcError(400, HEADER_MISMATCH, message)

/**
 * Returns the method and parameters of a message. Throws when the message is not a request or specifies another
 * revision.
 */
function requestOf(headers: Headers, body: unknown): { method: string; params: Fields } {
  const header = headers.get('mcp-protocol-version')?.trim()
  const claimed = versionIn(body)
  if (header !== undefined && typeof claimed === 'string' && claimed !== header) {
    throw mismatch(`MCP-Protocol-Version: is ${header}, but params._meta says ${claimed.slice(0, 100)}`)
  }
  const asked = claimed ?? header
  if (typeof asked === 'string' && asked !== REVISION) {
    throw new HttpRpcError(400, UNSUPPORTED_VERSION, 'Unsupported protocol version', {
      supported: REVISIONS,
      requested: asked.slice(0, 100),
    })
  }
  if (!isJsonObject(body))
    throw malformed(`body: must be one JSON-RPC message; revision ${REVISION} does not support batches`)
  const { jsonrpc, method, params = {} } = body
  if (jsonrpc !== '2.0') throw malformed('jsonrpc: must be "2.0"')
  if (typeof method !== 'string') throw malformed('method: must be a string')
  if (!isJsonObject(params)) throw malformed('params: must be an object')
  if ('id' in body && idOf(body) === null) throw malformed('id: must be a string or a whole number')
  return { method, params }
}

/** Throws when a header is missing or contradicts the body. */
function checkHeaders(headers: Headers, method: string, params: Fields): void {
  const required = (name: string): string => {
    const value = headers.get(name)
    if (value === null) throw mismatch(`${name}: is missing`)
    return value.trim()
  }
  required('MCP-Protocol-Version')
  if (required('Mcp-Method') !== method) throw mismatch(`Mcp-Method: must be ${method.slice(0, 100)}, as in the body`)
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined
  const named = field && params[field]
  if (typeof named !== 'string') return
  if (decoded(required('Mcp-Name')) !== named) throw mismatch(`Mcp-Name: must equal params.${field}`)
}

/** Decodes a header value that may be Base64 between markers; null when the Base64 is invalid. */
function decoded(value: string): string | null {
  const [, encoded] = value.match(/^=\?base64\?(.*)\?=$/) ?? []
  if (encoded === undefined) return value
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded ? bytes.toString() : null
}

/** Runs a check on parameters. Its errors become JSON-RPC errors with HTTP status 400. */
function checked<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (error instanceof AppError) throw new HttpRpcError(400, ErrorCode.InvalidParams, error.message)
    throw error
  }
}

async function resultOf(method: string, params: Fields, methods: Methods): Promise<object> {
  const lasting = { ttlMs: LIST_TTL_MS, cacheScope: 'private' }
  const fleeting = { ttlMs: 0, cacheScope: 'private' }
  const unpaged = () => {
    if (params.cursor === undefined) return
    throw new HttpRpcError(400, ErrorCode.InvalidParams, 'params.cursor: is not valid for this list')
  }
  switch (method) {
    case 'server/discover':
      return { supportedVersions: REVISIONS, capabilities: CAPABILITIES, instructions: INSTRUCTIONS, ...lasting }
    case 'tools/list':
      unpaged()
      return { ...methods.listTools(), ...lasting }
    case 'tools/call':
      return await methods.callTool(checked(() => checkCall(params, 'params')))
    case 'resources/list':
      unpaged()
      return { ...(await methods.listResources()), ...fleeting }
    case 'resources/templates/list':
      unpaged()
      return { ...methods.listResourceTemplates(), ...lasting }
    case 'resources/read':
      return { ...(await methods.readResource(checked(() => checkRead(params, 'params')).uri)), ...fleeting }
    default:
      throw new HttpRpcError(404, ErrorCode.MethodNotFound, `Method not found: ${method.slice(0, 100)}`)
  }
}
