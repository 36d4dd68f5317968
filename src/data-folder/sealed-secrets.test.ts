import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { memoryDb, testClock } from '../../test/fixtures.ts'
import { temporaryFolder } from '../../test/run-program.ts'
import { secretBox } from '../core/secret-box.ts'
import { beginSecondFactor, confirmSecondFactor, secondFactorOf } from '../org/second-factor.ts'
import { signInLimits } from '../org/sign-in.ts'
import { initialize } from '../org/store.ts'
import { stepAt, totpCode } from '../org/totp.ts'
import { masterKey } from '../store/master-key.ts'
import { folderPaths } from './folder-paths.ts'
import { forgetLost } from './sealed-secrets.ts'

test('second factors that the key cannot decrypt are removed, and their users are notified', async () => {
  using folder = temporaryFolder()
  const paths = folderPaths(folder.path)
  const [db, clock] = [memoryDb(), testClock()]
  const box = secretBox(masterKey(paths.key))
  const email = 'ann@example.com'
  const { userId } = await initialize(db, box, clock, { orgName: 'Acme', email, password: 'correct horse' })
  const deps = { db, box, clock, limits: signInLimits(clock, 60) }
  const { secret } = beginSecondFactor(deps, userId)
  confirmSecondFactor(deps, userId, totpCode(secret, stepAt(clock.now())))
  rmSync(paths.key)
  expect(forgetLost(paths, db, clock)).toEqual({ orgs: 1, integrations: 0 })
  expect(secondFactorOf(db, userId).enabled).toBe(false)
  const queued = db.prepare('SELECT channelType, channelTarget, status FROM delivery').all()
  expect(queued).toEqual([{ channelType: 'security_mail', channelTarget: email, status: 'pending' }])
  // A second run finds nothing to remove.
  forgetLost(paths, db, clock)
  expect(db.prepare('SELECT count(*) FROM delivery').pluck().get()).toBe(1)
})
