import { KEY_SCOPES, type KeyScope } from '../contract/key-scopes.ts'
import type { Role } from '../contract/roles.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'

/** Input for a new key. `expiresInDays: null` creates a key that never expires. */
export const KeyInputSchema = Closed(
  {
    name: Text(1, 100),
    expiresInDays: Nullable(Int({ minimum: 7, maximum: 365 })),
    readOnly: Type.Optional(Type.Boolean({ default: false, description: 'Short for the scope `read` alone' })),
    scopes: Type.Optional(
      Type.Array(OneOf(KEY_SCOPES), {
        minItems: 1,
        maxItems: KEY_SCOPES.length,
        description:
          'Permissions of the key, limited by the role of its user. `all` includes everything, also secrets, members and ' +
          'settings; `read` includes the routes that only read; each other scope includes the routes that change one kind ' +
          'of object, and no others. Default: `all`; `read` for viewers',
      }),
    ),
  },
  { $id: 'KeyInput', examples: [{ name: 'Release pipeline', expiresInDays: 90, scopes: ['read', 'alerts'] }] },
)
export type KeyInput = Static<typeof KeyInputSchema>

const shared = {
  id: Type.String(),
  name: Type.String(),
  readOnly: Type.Boolean({
    description: 'True when `read` is the only scope. Keys of viewers are read-only regardless of this value',
  }),
  scopes: Type.Array(OneOf(KEY_SCOPES), { description: 'Permissions of the key. See `docs/api/roles.md`' }),
  createdAt: InstantSchema,
  expiresAt: Nullable(InstantSchema),
}

const EXAMPLE = {
  id: 'key_01ke7jj5c09m3r6e1b8z4x7p2d',
  name: 'Release pipeline',
  readOnly: false,
  scopes: ['read', 'alerts'] as KeyScope[],
  createdAt: 1_767_614_400_000,
  expiresAt: 1_775_390_400_000,
}

/** A key as listed, without its secret. */
export const KeySchema = Closed(
  {
    ...shared,
    userId: Type.String({ description: 'User on whose behalf the key acts' }),
    secretTail: Type.String({ description: 'Last four characters of the secret, to distinguish keys' }),
    lastUsedAt: Nullable(InstantSchema),
  },
  {
    $id: 'Key',
    examples: [{ ...EXAMPLE, userId: 'usr_01ke7jhv00t2y7h4f6q9a3w5kc', secretTail: 'Qb7x', lastUsedAt: null }],
  },
)
export type Key = Static<typeof KeySchema>

/** The response to the creation of a key. The only response that contains the secret. */
export const NewKeySchema = Closed(
  { ...shared, secret: Type.String() },
  { $id: 'NewKey', examples: [{ ...EXAMPLE, secret: 'ak_2nB8cV5xZ1mK7jH4gF9dS3aP6oI0uY-tR_eWqLkJQb7x' }] },
)
export type NewKey = Static<typeof NewKeySchema>

/** The scopes of read-only keys. */
const READ: readonly KeyScope[] = ['read']
export const isReadOnly = (scopes: readonly KeyScope[]): boolean => scopes.every((scope) => scope === 'read')

/**
 * Returns the scopes of a new key, in the order of `KEY_SCOPES`. The keys of viewers only read, even if the viewer gets
 * a higher role later. Throws `invalid` when `readOnly` contradicts the scopes, and `forbidden` for a viewer's key that
 * would have no scope.
 */
export function scopesOf({ readOnly = false, scopes }: Pick<KeyInput, 'readOnly' | 'scopes'>, role: Role): KeyScope[] {
  if (readOnly && scopes && !isReadOnly(scopes)) {
    throw new AppError('invalid', 'scopes: must be ["read"] or omitted for a read-only key')
  }
  const asked: readonly KeyScope[] = scopes ?? (readOnly || role === 'viewer' ? READ : ['all'])
  const held = asked.includes('all') ? (['all'] as const) : KEY_SCOPES.filter((scope) => asked.includes(scope))
  if (role !== 'viewer') return [...held]
  if (!asked.includes('read') && !asked.includes('all')) {
    throw new AppError('forbidden', 'scopes: your role is viewer, so your keys can only have the scope "read"')
  }
  return [...READ]
}

export function expiryOf(expiresInDays: number | null, createdAt: Instant): Instant | null {
  return expiresInDays === null ? null : createdAt + expiresInDays * DAY_MS
}
