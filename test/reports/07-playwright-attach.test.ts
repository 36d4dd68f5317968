import { expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeRecorded } from '../../src/commands/decode.ts'
import { readHar } from '../../src/commands/read-har.ts'
import { temporaryFolder } from '../run-program.ts'
import { describeReport, expectedOf, reportPath } from './bug-report.ts'

const HAR = '07-playwright-attach.har'

describeReport('a body in an attachment', () => {
  test.each([HAR, `${HAR}.zip`])('of %s is read', async (file) => {
    const lines = (await readHar(reportPath(file))).map(decodeRecorded)
    const { expected } = expectedOf<{ expected: Record<string, string>[] }>('07-playwright-attach.expected.json')
    expect(lines).toMatchObject([
      {
        vendor: 'Google Analytics 4',
        error: null,
        events: expected.map(({ event = '', ...params }) => ({ event, params })),
      },
    ])
  })

  test('that is missing is reported, without an event', async () => {
    using folder = temporaryFolder()
    const alone = join(folder.path, HAR)
    copyFileSync(reportPath(HAR), alone)
    const [line, ...others] = (await readHar(alone)).map(decodeRecorded)
    expect(others).toEqual([])
    expect(line).toMatchObject({ vendor: 'Google Analytics 4', kind: null, events: [] })
    expect(line?.error).toMatch(/^body: stored in the attachment "80cf\w+\.dat", which is not next to/)
  })
})
