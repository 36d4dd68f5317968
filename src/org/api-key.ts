import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, type Static, Text, Type } from '../core/schema.ts'

/** Input for a new key. `expiresInDays: null` creates a key that never expires. */
export const KeyInputSchema = Closed(
  {
    name: Text(1, 100),
    expiresInDays: Nullable(Int({ minimum: 7, maximum: 365 })),
    readOnly: Type.Optional(Type.Boolean({ default: false })),
  },
  { $id: 'KeyInput', examples: [{ name: 'Release pipeline', expiresInDays: 90, readOnly: false }] },
)
export type KeyInput = Static<typeof KeyInputSchema>

const shared = {
  id: Type.String(),
  name: Type.String(),
  readOnly: Type.Boolean({
    description: 'True for a key created as read-only. Keys of viewers are read-only regardless of this value',
  }),
  createdAt: InstantSchema,
  expiresAt: Nullable(InstantSchema),
}

const EXAMPLE = {
  id: 'key_01ke7jj5c09m3r6e1b8z4x7p2d',
  name: 'Release pipeline',
  readOnly: false,
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

export function expiryOf(expiresInDays: number | null, createdAt: Instant): Instant | null {
  return expiresInDays === null ? null : createdAt + expiresInDays * DAY_MS
}
