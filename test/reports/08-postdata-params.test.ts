import { expect, test } from 'bun:test'
import { decodeRecorded } from '../../src/commands/decode.ts'
import { readHar } from '../../src/commands/read-har.ts'
import { describeReport, expectedOf, reportPath } from './bug-report.ts'

interface ExpectedRequest {
  vendor: string
  account: string
  event: string
  params: Record<string, string>
}

describeReport('a body in postData.params', () => {
  test('is read, decoded or percent-encoded', async () => {
    const lines = (await readHar(reportPath('08-postdata-params.har'))).map(decodeRecorded)
    const { lines: expected } = expectedOf<{ lines: ExpectedRequest[] }>('08-postdata-params.expected.json')
    const [{ vendor, account, event, params } = { vendor: '', account: '', event: '', params: {} }] = expected
    expect(lines).toHaveLength(expected.length)
    for (const line of lines) expect(line).toMatchObject({ vendor, account, error: null, events: [{ event, params }] })
    expect(Object.keys(lines[1]?.events[0]?.params ?? {})).toEqual(Object.keys(lines[0]?.events[0]?.params ?? {}))
  })
})
