import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { testClock } from '../../test/fixtures.ts'
import { temporaryFolder } from '../../test/run-program.ts'
import { SHARED_NUMBERING } from '../collectors/store.ts'
import { plainEvent } from '../core/event.fixture.ts'
import { openDatabase } from '../store/database.ts'
import { folderPaths } from './folder-paths.ts'
import { openAllStores } from './open-folder.ts'

/** Nothing listens there, as during an outage. */
const ABSENT = {
  url: 'http://127.0.0.1:1',
  user: 'default',
  password: '',
  database: 'default',
  cluster: null,
  replicated: false,
}
const ignored = { report() {}, log: { info() {}, warn() {} }, notifyOperator() {} }

test('events in ClickHouse are numbered apart from those of collectors, also after restarts and an upgrade', async () => {
  using folder = temporaryFolder()
  const clock = testClock()
  const { perMs, slots } = SHARED_NUMBERING
  const numbersOf = async (clickhouse: typeof ABSENT | null) => {
    const stores = await openAllStores(folder.path, clock, { ...ignored, clickhouse })
    const receivedAt = stores.spool.arrivalAt()
    const numbers = Array.from({ length: 3 }, () => stores.spool.nextSeq())
    const answer = { accepted: 0, rejected: 0, errors: [] }
    const batch = { key: `key ${numbers[0]}`, orgId: 'org_1', domainId: 'dom_1', receivedAt, answer, ledger: [] }
    const events = numbers.map((seq) => plainEvent({ id: `evt_${seq}`, seq, receivedAt }))
    await stores.spool.append(events, batch)
    await stores.spool.close()
    stores.close()
    return numbers
  }
  const before = await numbersOf(null)
  expect(before).toEqual([0, 1, 2].map((step) => clock.now() * 1000 + step))
  const first = clock.now() * perMs
  expect(await numbersOf(ABSENT)).toEqual([0, 1, 2].map((step) => first + step * slots))
  expect(await numbersOf(ABSENT)).toEqual([3, 4, 5].map((step) => first + step * slots))
})

test('a server does not open the data folder of a collector', async () => {
  using folder = temporaryFolder()
  const db = openDatabase(folderPaths(folder.path).database)
  db.exec(`INSERT INTO collectorState (only, instance, slot, live, epoch, version, overBudget)
    VALUES (1, 'east', 1, 1, 0, 0, '[]')`)
  db.close()
  const opening = openAllStores(folder.path, testClock(), ignored)
  await expect(opening).rejects.toThrow('is the data folder of a collector. Nothing was changed')
  expect(await Bun.file(join(folder.path, 'master.key')).exists()).toBe(false)
})
