import { Closed, type Static, Type } from '../core/schema.ts'

/** A request that compares values with stored secrets, and its response. Neither contains a stored value. */
export const SecretComparisonSchema = Closed(
  {
    secrets: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Values by the name of the secret',
      examples: [{ secret: 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=' }],
    }),
  },
  {
    $id: 'SecretComparison',
    examples: [{ secrets: { secret: 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=' } }],
  },
)
type SecretComparison = Static<typeof SecretComparisonSchema>

export const ComparedSecretsSchema = Closed(
  {
    same: Type.Record(Type.String(), Type.Boolean(), {
      description: 'True for each value that equals the stored one; false if it differs or none is stored',
      examples: [{ secret: true }],
    }),
  },
  { $id: 'ComparedSecrets', examples: [{ same: { secret: true } }] },
)

/** Compares values with stored secrets. */
export function compareSecrets(
  { secrets }: SecretComparison,
  stored: Readonly<Record<string, unknown>>,
): Static<typeof ComparedSecretsSchema> {
  const isSame = (name: string, value: unknown) => Object.hasOwn(stored, name) && Bun.deepEquals(stored[name], value)
  return { same: Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, isSame(name, value)])) }
}
