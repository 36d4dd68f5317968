import { describe, expect, test } from 'bun:test'
import { migrations } from '../../migrations/index.ts'
import { version } from '../../package.json'
import { runProgram, temporaryFolder } from '../../test/run-program.ts'
import { commands } from './index.ts'

/** Expects one line of plain text on stderr and no output on stdout. */
function expectBadUse({ code, stdout, stderr }: Awaited<ReturnType<typeof runProgram>>, message: string): void {
  expect(stderr).toStartWith(`tagwarden: ${message}`)
  expect(stderr.trimEnd()).not.toContain('\n')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
}

const all = await Promise.all(Object.values(commands).map((load) => load()))

test('each command is found by its name', () => {
  expect(all.map(({ name }) => name)).toEqual(Object.keys(commands))
})

describe.concurrent('the program', () => {
  test.each<[string[], string]>([
    [['nonsense'], 'unknown command "nonsense"; see tagwarden --help'],
    [['import'], 'unknown command "import"'],
    [['--nonsense'], 'unknown command "--nonsense"'],
    [['decode', '--nonsense'], "decode: Unknown option '--nonsense'"],
    [['decode', 'file.har'], 'decode: unexpected argument "file.har"'],
    [['decode', '--har', '/nowhere/file.har'], '/nowhere/file.har: file not found'],
    [['import', 'har', '--token', 'pt_x', 'a.har'], 'import har: --url is missing'],
    [['import', 'har', '--url', 'http://127.0.0.1:1', 'a.har'], 'import har: --token is missing'],
    [['import', 'har', '--url', 'http://127.0.0.1:1', '--token', 'pt_x'], 'import har: no file given'],
    [['init', '--email', 'a@example.com'], 'init: --org is missing'],
    [['init', '--org', 'Acme'], 'init: --email is missing'],
    [['user'], 'unknown command "user"'],
    [['user', 'list', '--data', '/nowhere/data'], 'user list: there is no data folder at /nowhere/data'],
    [['user', 'password'], 'user password: --email is missing'],
    [['user', 'role', '--email', 'a@example.com'], 'user role: --role is missing'],
    [['user', 'role', '--email', 'a@example.com', '--role', 'king'], 'user role: --role must be one of viewer, member'],
    [['serve', '--listen', '8787'], 'TAGWARDEN_LISTEN: must be HOST:PORT, not "8787"'],
    [['serve', '--listen', ''], 'serve: --listen is empty'],
    [['serve', '--collect-listen', 'x'], 'TAGWARDEN_COLLECT_LISTEN: must be HOST:PORT'],
    [['collect'], 'TAGWARDEN_CONTROL: must be set to the URL of the control node, or --control'],
    [['collect', '--control', 'https://control.example'], 'TAGWARDEN_COLLECTOR_TOKEN: must be set to the token that'],
    [['collect', '--listen', ''], 'collect: --listen is empty'],
    [['config', '--data'], "config: Option '--data"],
  ])('exits with 2 and a usage error for %j', async (args, message) => {
    expectBadUse(await runProgram(args), message)
  })

  test.each(['config', 'serve', 'init --org A --email a@example.com'])(
    'rejects an unknown environment variable for %s',
    async (line) => {
      expectBadUse(
        await runProgram(line.split(' '), { env: { TAGWARDEN_RETENTION: '30' } }),
        'TAGWARDEN_RETENTION: unknown setting',
      )
    },
  )

  test.each(all)('$name --help lists the arguments of the command', async ({ name, flags }) => {
    const { code, stdout, stderr } = await runProgram([...name.split(' '), '--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toStartWith(`usage: tagwarden ${name}`)
    for (const flag of Object.keys(flags)) expect(stdout).toContain(`--${flag}`)
  })

  test.each([[['config', '-h']], [['help', 'config']], [['help', 'import', 'har']]])(
    'prints help for %j',
    async (args) => {
      const names = args.filter((one) => one !== 'help' && one !== '-h')
      const { code, stdout } = await runProgram(args)
      expect(code).toBe(0)
      expect(stdout).toStartWith(`usage: tagwarden ${names.join(' ')}`)
    },
  )

  test.each([[['--help']], [['-h']], [['help']]])('lists every command for %j', async (args) => {
    const { code, stdout } = await runProgram(args)
    expect(code).toBe(0)
    for (const { name, summary, isInternal = false } of all) {
      expect(stdout.includes(`  ${name.padEnd(12)} ${summary}\n`)).toBe(!isInternal)
    }
  })

  test('prints the usage and exits with 2 without a command', async () => {
    expect(await runProgram([])).toMatchObject({ code: 2, stdout: expect.stringContaining('usage: tagwarden COMMAND') })
  })

  test('prints the version for --version', async () => {
    for (const flag of ['--version', '-v']) {
      const stdout = `${version} (from source), database schema ${migrations.length}\n`
      expect(await runProgram([flag])).toEqual({ code: 0, stdout, stderr: '' })
    }
    const { stdout } = await runProgram(['--version', '--json'])
    expect(JSON.parse(stdout)).toEqual({ version, commit: null, date: null, schema: migrations.length })
  })

  test('prints any other error as one line and exits with 1', async () => {
    using folder = temporaryFolder()
    await Bun.write(`${folder.path}/data`, 'a file where the folder should be')
    const { code, stderr } = await runProgram(['serve', '--data', `${folder.path}/data`, '--listen', '127.0.0.1:0'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^tagwarden: [^\n]+\n$/)
  })
})
