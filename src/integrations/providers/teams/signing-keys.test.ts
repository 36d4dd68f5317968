import { expect, test } from 'bun:test'
import { testClock } from '../../../../test/fixtures.ts'
import { DAY_MS, HOUR_MS } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import { addressGuard } from '../../../transport/address-guard.ts'
import type { CallRequest } from '../provider-context.ts'
import { signingKey } from './signing-keys.ts'
import { prepareTeams } from './teams-config.ts'

const never = new AbortController().signal

/** A Microsoft cloud that lists these keys. */
function cloud(kids: string[]) {
  const asked: string[] = []
  const clock = testClock()
  clock.set(1000 * DAY_MS)
  const operator = { OFFICE_CHAT_OPENID_URL: 'https://login.example/openid' }
  const ask = async ({ url }: CallRequest) => {
    asked.push(url)
    const keys = kids.map((kid) => ({ kid, kty: 'RSA', n: 'AQAB', e: 'AQAB', endorsements: ['msteams'] }))
    const body = JSON.stringify(url.endsWith('/keys') ? { keys } : { jwks_uri: 'https://login.example/keys' })
    return { status: 200, headers: {}, body }
  }
  const context = { operator, callOk: ask, now: () => clock.now(), signal: never }
  return { context, asked, kids, set: clock.set }
}

test('setting the clock back does not prevent a refresh', async () => {
  const { context, kids, set } = cloud(['old'])
  set(2000 * DAY_MS)
  expect(await signingKey(context, 'old')).not.toBeNull()
  set(1000 * DAY_MS)
  kids.push('new')
  expect(await signingKey(context, 'new')).toMatchObject({ jwk: { kid: 'new' } })
})

test('an unknown key id causes at most one fetch an hour', async () => {
  const { context, asked, set } = cloud(['old'])
  for (let n = 0; n < 5; n++) expect(await signingKey(context, 'none')).toBeNull()
  expect(asked).toHaveLength(2)
  set(1000 * DAY_MS + HOUR_MS)
  expect(await signingKey(context, 'none')).toBeNull()
  expect(asked).toHaveLength(4)
})

test('a caller that disconnects during the fetch does not cause other callers to fail', async () => {
  const { context } = cloud(['old'])
  const leaving = new AbortController()
  const left = () =>
    new Promise<never>((_, reject) =>
      leaving.signal.addEventListener('abort', () =>
        reject(new AppError('upstream', 'stopped before a response was received')),
      ),
    )
  const leaver = signingKey({ ...context, callOk: left, signal: leaving.signal }, 'old').catch((error) => error)
  const other = signingKey(context, 'old')
  leaving.abort()
  expect(await other).toMatchObject({ jwk: { kid: 'old' } })
  expect(await leaver).toBeInstanceOf(AppError)
})

test.each(['..', '.', '.../x'])("the tenant id %p can't change the path of the token URL", (tenantId) => {
  const config = { appId: 'bot', appPassword: 'secret', tenantId }
  expect(() => prepareTeams(config, addressGuard([]))).toThrow('tenantId')
})
