import { timingSafeEqual } from 'node:crypto'
import { MAX_EMAIL_LENGTH, MAX_NAME_LENGTH, PASSWORD_LENGTH } from '../contract/limits.ts'
import { AppError } from '../core/error.ts'
import { newSecret } from '../core/id.ts'
import { Closed, type Static, Text, Type } from '../core/schema.ts'
import { type SecretBox, secretHash } from '../core/secret-box.ts'
import type { Origin } from '../http/client-info.ts'
import { checkName, OrgNameSchema } from './org.ts'
import { openSession, type SignedIn, signedIn } from './session.ts'
import type { PasswordSignInDeps } from './sign-in.ts'
import { hasOwner, makeFirstOwner } from './store.ts'

/** Input of the setup: the first organization and its owner. */
export const SetUpInputSchema = Closed(
  {
    token: Text(1, 200),
    orgName: OrgNameSchema,
    email: Text(1, MAX_EMAIL_LENGTH),
    password: Type.String({ maxLength: PASSWORD_LENGTH.max, description: 'At least 10 characters' }),
    name: Type.Optional(Text(1, MAX_NAME_LENGTH)),
  },
  {
    $id: 'SetUpInput',
    examples: [
      {
        token: 'su_7Yk0v3mQ2pXn8rT5wZ1cB6dF9gH4jL0sA2eU7iO3qWk',
        orgName: 'Acme',
        email: 'ann@example.com',
        password: 'correct horse battery staple',
        name: 'Ann',
      },
    ],
  },
)
export type SetUpInput = Static<typeof SetUpInputSchema>

/**
 * The one-time token in the setup link, which the operator uses to create the first owner. Valid until the process
 * ends.
 */
export class SetupToken {
  private hash: Buffer | null

  constructor(secret: string) {
    this.hash = secretHash(secret)
  }

  /** True until the token has been used. */
  get inForce(): boolean {
    return this.hash !== null
  }

  fits(secret: string): boolean {
    return this.hash !== null && timingSafeEqual(this.hash, secretHash(secret))
  }

  end(): void {
    this.hash = null
  }
}

/** Creates a token and its secret `su_…`, which is written to the log once. */
export function newSetupToken(): { token: SetupToken; secret: string } {
  const secret = newSecret('su')
  return { token: new SetupToken(secret), secret }
}

export interface SetUpDeps extends PasswordSignInDeps {
  box: SecretBox
  /** Null when the data folder already had an owner at startup. */
  setupToken: SetupToken | null
}

/** True when the token is valid and there is no owner yet. */
export function canSetUp({ db, setupToken }: Pick<SetUpDeps, 'db' | 'setupToken'>): boolean {
  return setupToken?.inForce === true && !hasOwner(db)
}

/**
 * Creates the first organization and its owner, signs the owner in, and invalidates the token. Throws `conflict` when
 * an owner exists, `unauthorized` when the token is not valid, `rateLimited` after too many attempts, and `invalid`
 * when a field is invalid.
 */
export async function setUp(parts: SetUpDeps, { token, ...input }: SetUpInput, origin: Origin): Promise<SignedIn> {
  const { db, box, clock, limits, setupToken, audit } = parts
  limits.byAddress(origin)
  if (hasOwner(db)) throw new AppError('conflict', 'an owner already exists')
  if (!setupToken?.fits(token)) throw new AppError('unauthorized', 'token: is not the setup token shown at startup')
  const name = input.name === undefined ? null : checkName(input.name, 'name')
  const { address, userAgent } = origin
  const answer = await makeFirstOwner(db, box, clock, { ...input, name }, ({ orgId, userId }) => {
    audit({ orgId, act: 'setUp', userId, address, target: orgId, note: { userAgent } })
    return signedIn(db, openSession(db, clock, userId, 'setup', { origin }), userId)
  })
  setupToken.end()
  return answer
}
