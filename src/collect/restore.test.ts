import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../../test/run-program.ts'
import { createBackup } from '../backups/create-backup.ts'
import { folderPlace } from '../backups/folder-place.ts'
import { restoreBackup } from '../backups/restore-backup.ts'
import { setHostnameStatus } from '../domains/store.ts'
import { Cluster } from './cluster.fixture.ts'

test('after the control node is restored, collectors copy all rows again and store every event once', async () => {
  using root = temporaryFolder()
  await using cluster = await Cluster.open()
  const { id, token } = cluster.newDomain()
  const [a, b] = [await cluster.newCollector('a'), await cluster.newCollector('b')]
  const send = (to: typeof a, name: string, host = 'shop.example') =>
    to.send(token, {
      batchId: `batch-${name}`,
      page: { url: `https://${host}/` },
      events: [{ id: name, vendor: 'GA4', event: 'purchase' }],
    })
  await send(a, 'before')
  await cluster.settle(a, b)
  const place = folderPlace(join(root.path, 'backups'))
  const { name } = await createBackup({
    folder: cluster.folder,
    place,
    keep: null,
    clock: cluster.clock,
    warn: (message) => {
      throw new Error(message)
    },
  })

  setHostnameStatus(cluster.app.db, { orgId: cluster.orgId, id }, 'late.example', 'denied')
  await a.run('sync')
  expect(await send(a, 'denied', 'late.example')).toMatchObject({ body: { accepted: 0 } })
  await send(a, 'committed')
  await cluster.settle(a, b)
  a.link = 'commits lost'
  await send(a, 'inserted')
  await cluster.settle(a)
  a.link = 'cut'
  await send(a, 'waiting')
  await cluster.settle(a)

  const restored = join(root.path, 'restored')
  await cluster.restart(async () => {
    await restoreBackup(place, name, restored)
    return restored
  })
  a.link = 'up'
  a.log.length = 0
  await a.run('forward')
  expect(a.log.join()).toContain('rows must be copied again first')
  for (const one of [a, b]) await one.run('sync')
  await cluster.settle(a, b)
  expect(await send(a, 'allowed again', 'late.example')).toMatchObject({ body: { accepted: 1 } })
  await cluster.settle(a, b)
  expect(await cluster.storedIds('')).toEqual(['allowed again', 'before', 'committed', 'inserted', 'waiting'])
  // The account of a segment that was committed after the backup is lost with the database.
  const usage = cluster.app.db.prepare('SELECT sum(events) FROM usage WHERE domainId = ?').pluck().get(id)
  expect(usage).toBe(4)
})
