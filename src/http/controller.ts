import { Elysia } from 'elysia'
import { AppError } from '../core/error.ts'
import { atLeast, type Principal, type Role } from './principal.ts'

/** Finds out who a request acts as. Fails with `unauthorized`, or `invalid` when `X-Org-Id` is needed. */
export type Authenticate = (headers: Headers) => Principal

/**
 * What a route asks of its caller. `read`: any role. Every other level also refuses read-only keys.
 * `own`: what belongs to the caller, any role, but no read-only key.
 */
export type Access = 'read' | 'own' | Exclude<Role, 'viewer'>

/** Throws `forbidden`, naming what is missing. */
export function requireAccess(principal: Principal, access: Access): void {
  if (access === 'read') return
  if (principal.readOnly) throw new AppError('forbidden', 'this key can only read')
  if (access === 'own') return
  if (!atLeast(principal.role, access)) {
    throw new AppError('forbidden', `this needs the role ${access}; yours is ${principal.role}`)
  }
}

/** What a request may send: 500 alerts of a usual size, or a domain with its picture, with room to spare. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024

/** No schema goes half as deep. Elysia and TypeBox walk by recursion, which ends somewhere. */
const MAX_DEPTH = 50

/**
 * Refuses what fits JSON and still can't be worked with: what is nested too deeply, and texts that neither SQLite nor
 * the engine keeps as they are, so that compared later they would not be equal.
 */
function checkJson(value: unknown, path: string, depth = 0): void {
  if (typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'))) {
    throw new AppError('invalid', `${path || 'body'}: has a NUL character or half of a surrogate pair`)
  }
  if (typeof value !== 'object' || value === null) return
  if (depth === MAX_DEPTH) throw new AppError('invalid', `body: is nested more than ${MAX_DEPTH} levels deep`)
  for (const [key, item] of Object.entries(value)) {
    checkJson(key, path)
    checkJson(item, Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key, depth + 1)
  }
}

/** The body as JSON; null when there is none. Fails with `tooLarge`, `unsupportedType`, or a `SyntaxError`. */
async function readJson(request: Request, contentType: string): Promise<unknown> {
  const tooLarge = () => new AppError('tooLarge', `body: is larger than ${MAX_BODY_BYTES} bytes`)
  if (Number(request.headers.get('content-length')) > MAX_BODY_BYTES) throw tooLarge()
  const text = await request.text()
  if (text === '') return null
  if (contentType.toLowerCase() !== 'application/json') {
    throw new AppError('unsupportedType', 'content-type: must be application/json')
  }
  if (Buffer.byteLength(text) > MAX_BODY_BYTES) throw tooLarge()
  const value: unknown = JSON.parse(text)
  checkJson(value, '')
  return value
}

/**
 * A set of routes under `/v1` that all know their caller: handlers get `principal`, and every route names its
 * access (`{ access: 'member' }`).
 */
export function controller(authenticate: Authenticate) {
  const known = new WeakMap<Request, Principal>()
  const principalOf = (request: Request): Principal => {
    const principal = known.get(request) ?? authenticate(request.headers)
    known.set(request, principal)
    return principal
  }
  return new Elysia({ prefix: '/v1', normalize: false })
    .guard({
      parse: [
        ({ request }, contentType) => {
          // A stranger's body is not even read.
          principalOf(request)
          return readJson(request, contentType)
        },
        // Never reached; it says in the description of the routes what they take.
        'json',
      ],
    })
    .derive(({ request }) => ({ principal: principalOf(request) }))
    .macro({
      // In `transform`, so that a caller without the right learns nothing from validating the body.
      access: (access: Access) => ({
        transform: (context: object) => {
          const { principal } = context as { principal?: Principal }
          if (principal) requireAccess(principal, access)
        },
      }),
    })
}
