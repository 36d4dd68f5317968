import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { spreadOf } from '../tools/percentiles.ts'
import { client, makeFolder, start, tagwarden } from '../tools/server.ts'

const USERS = sized(20, 2)
/** Number of attempts per account: the maximum that the rate limit allows. */
const TRIES = sized(10, 1)
const PASSWORD = 'correct horse battery staple'
const SHARE = 0.1

/**
 * Measures whether the response time of a failed sign-in reveals which e-mail addresses have an account. Sign-ins with
 * a wrong password alternate with sign-ins with an unknown address, over HTTP.
 */
export async function benchSignIn(): Promise<Budget[]> {
  const { folder, key, remove } = await makeFolder()
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), {
    TAGWARDEN_LOG_LEVEL: 'error',
    TAGWARDEN_RATE_SIGNIN_PER_MINUTE: '1000000',
  })
  try {
    const call = client(server.url, key)
    for (let n = 0; n < USERS; n++) {
      const email = `user${n}@example.com`
      const { inviteToken: token } = await call<{ inviteToken: string }>('POST', '/v1/org/members', {
        email,
        role: 'viewer',
      })
      await call('POST', '/v1/auth/invite', { token, password: PASSWORD })
    }
    const times = { user: [] as number[], unknown: [] as number[] }
    for (let round = 0; round < TRIES; round++) {
      for (let n = 0; n < USERS; n++) {
        // The order alternates, because the second attempt may benefit from warm caches.
        const pair = n % 2 === 0 ? (['user', 'unknown'] as const) : (['unknown', 'user'] as const)
        for (const who of pair) times[who].push(await refusedAfterMs(server.url, `${who}${n}@example.com`))
      }
    }
    const [user, unknown] = [trimmedMean(times.user), trimmedMean(times.unknown)]
    console.log(`  wrong password ${spreadOf(times.user)}; no such user ${spreadOf(times.unknown)}`)
    return [
      budget('sign-in, wrong password / no such user', user / unknown, 'at least', 1 - SHARE),
      budget('sign-in, no such user / wrong password', unknown / user, 'at least', 1 - SHARE),
    ]
  } finally {
    await server.stop()
    remove()
  }
}

async function refusedAfterMs(url: string, email: string): Promise<number> {
  const body = JSON.stringify({ email, password: 'not the password of anybody' })
  const startedAt = performance.now()
  const response = await fetch(`${url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  await response.text()
  if (response.status !== 401) throw new Error(`unexpected status of a failed sign-in: ${response.status}`)
  return performance.now() - startedAt
}

/** Returns the mean without the slowest 5 %, which are caused by other programs on the machine. */
function trimmedMean(times: readonly number[]): number {
  const kept = times.toSorted((a, b) => a - b).slice(0, Math.ceil(times.length * 0.95))
  return kept.reduce((sum, time) => sum + time, 0) / kept.length
}
