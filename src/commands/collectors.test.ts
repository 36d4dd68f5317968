import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runProgram, temporaryFolder } from '../../test/run-program.ts'
import { openStores } from '../data-folder/open-folder.ts'

test('collectors are added, listed and removed, and their tokens are shown only once', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const stores = openStores(data)
  stores.db.close()
  const env = { TAGWARDEN_WAREHOUSE: 'clickhouse://clickhouse.example' }
  const run = (...words: string[]) => runProgram(['collectors', ...words, '--data', data, '--json'], { env })
  const added = await run('add', 'east')
  expect(added).toMatchObject({ code: 0, stderr: '' })
  const { token } = JSON.parse(added.stdout)
  expect(token).toMatch(/^ct_\S{43}$/)
  expect(await run('add', 'east')).toMatchObject({ code: 2, stderr: expect.stringContaining('"east" is taken') })
  expect(await run('add')).toMatchObject({ code: 2, stderr: expect.stringContaining('give one name') })
  const listed = await run('list')
  expect(JSON.parse(listed.stdout)).toEqual({
    collectors: [
      {
        name: 'east',
        slot: 1,
        createdAt: expect.any(Number),
        seenAt: null,
        version: null,
        diskBytes: null,
        freeBytes: null,
        lagMs: null,
        isAway: false,
      },
    ],
  })
  expect(listed.stdout).not.toContain(token)
  expect(await run('remove', 'west')).toMatchObject({ code: 2, stderr: expect.stringContaining('no collector named') })
  expect(await run('remove', 'east')).toMatchObject({ code: 0 })
  expect(JSON.parse((await run('list')).stdout)).toEqual({ collectors: [] })
})

test('adding a collector to a server without ClickHouse warns that the server refuses it', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  openStores(data).db.close()
  const { code, stdout, stderr } = await runProgram(['collectors', 'add', 'east', '--data', data])
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^ct_\S{43}\n$/) })
  expect(stderr).toBe(
    'warning: the events of this data folder are not in ClickHouse; the server refuses collectors until it starts with TAGWARDEN_WAREHOUSE\n',
  )
})
