import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, type Static, Text, Type } from '../core/schema.ts'

/** What a user says of a new key. `expiresInDays: null` means that it never expires. */
export const KeyInputSchema = Closed(
  {
    name: Text(1, 100),
    expiresInDays: Nullable(Int({ minimum: 7, maximum: 365 })),
    readOnly: Type.Optional(Type.Boolean({ default: false })),
  },
  { $id: 'KeyInput' },
)
export type KeyInput = Static<typeof KeyInputSchema>

const shared = {
  id: Type.String(),
  name: Type.String(),
  readOnly: Type.Boolean({ description: 'Made to read only; a key of a viewer reads only whatever this says' }),
  createdAt: InstantSchema,
  expiresAt: Nullable(InstantSchema),
}

/** A key as it is listed: never its secret. */
export const KeySchema = Closed(
  {
    ...shared,
    userId: Type.String({ description: 'The user it acts as' }),
    secretTail: Type.String({ description: 'The last four characters of the secret, to tell keys apart' }),
    lastUsedAt: Nullable(InstantSchema),
  },
  { $id: 'Key' },
)
export type Key = Static<typeof KeySchema>

/** The answer to creating a key: the only place where its secret is ever shown. */
export const NewKeySchema = Closed({ ...shared, secret: Type.String() }, { $id: 'NewKey' })
export type NewKey = Static<typeof NewKeySchema>

export function expiryOf(expiresInDays: number | null, createdAt: Instant): Instant | null {
  return expiresInDays === null ? null : createdAt + expiresInDays * DAY_MS
}
