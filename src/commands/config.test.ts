import { expect, test } from 'bun:test'
import { runProgram } from '../../test/run-program.ts'
import { describeConfig } from '../config.ts'
import { PROVIDER_SETTINGS } from '../connectors.ts'

const env = { TAGWARDEN_SMTP_URL: 'smtp://me:hunter2@mail.example:25', TAGWARDEN_DISK_BUDGET: '20GB' }

test('the JSON output contains every setting with its value, with secrets masked', async () => {
  const { code, stdout } = await runProgram(['config', '--json', '--data', '/srv/data'], { env })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual(describeConfig({ data: '/srv/data' }, env, PROVIDER_SETTINGS))
  expect(stdout).toContain('20GB')
  expect(stdout).not.toContain('hunter2')
})

test('the text output contains a NAME=value line and the meaning of each setting', async () => {
  const { code, stdout } = await runProgram(['config'], { env })
  expect(code).toBe(0)
  for (const { name, value, meaning } of describeConfig({}, env, PROVIDER_SETTINGS)) {
    expect(stdout).toContain(`${name}=${value}\n    ${meaning} (default: `)
  }
  expect(stdout).toContain('TAGWARDEN_SMTP_URL=(secret)\n')
  expect(stdout).not.toContain('hunter2')
})
