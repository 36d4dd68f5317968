import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { applyPlan, FailedStep } from '../configuration/apply.ts'
import { countText, FileFaults, readDesired } from '../configuration/desired.ts'
import { readOrganization } from '../configuration/organization.ts'
import { hasChanges, planChanges, planJson, planLines } from '../configuration/plan.ts'
import { readYaml, type YamlFile } from '../configuration/yaml-file.ts'
import { messageOf } from '../core/error.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { openServer, SERVER_FLAGS } from './server-client.ts'

const PLAN_FLAGS = {
  ...SERVER_FLAGS,
  prune: { type: 'boolean', meaning: 'Also delete items that the files managed and no longer contain' },
  'exit-code': { type: 'boolean', meaning: 'Exit with 1 if something would change' },
  json: { type: 'boolean', meaning: 'Print {creates, updates, deletes, missing, steps} as JSON' },
} as const

/** How a run of the commands ends, apart from success. */
const EXIT = { changes: 1, failed: 1, misuse: 2 }

async function readFiles(command: Command, paths: readonly string[]): Promise<YamlFile[]> {
  if (paths.length === 0) throw new UsageError(`${command.name}: no file given`)
  const names = paths.map((path) => basename(path))
  const twice = names.find((name, index) => names.indexOf(name) < index)
  // Items are marked with the name of their file, so that --prune knows which items a file managed.
  if (twice) throw new UsageError(`${command.name}: two files are named ${twice}; rename one of them`)
  const files: YamlFile[] = []
  for (const [index, path] of paths.entries()) {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      throw new UsageError(`${command.name}: ${path}: ${messageOf(error)}`)
    })
    files.push(readYaml(names[index] ?? path, text))
  }
  return files
}

async function run(command: Command, invocation: Invocation, { isDryRun }: { isDryRun: boolean }): Promise<number> {
  const { flags, names, env } = invocation
  const call = openServer(command, invocation)
  const files = await readFiles(command, names)
  const organization = await readOrganization(call)
  const items = readDesired(files, organization, env)
  const plan = await planChanges(items, organization, { files: files.map(({ name }) => name), call })
  const prune = flags.prune === true
  const isChanging = hasChanges(plan, { prune })
  const steps: string[] = []
  const tell = (line: string) => {
    if (!flags.json) console.log(line)
  }
  const tellJson = () => {
    if (flags.json) console.log(JSON.stringify({ ...planJson(plan, { prune }), steps }))
  }
  for (const line of planLines(plan, { prune })) tell(line)
  if (isDryRun) {
    tellJson()
    return isChanging && flags['exit-code'] ? EXIT.changes : 0
  }
  if (prune && plan.missing.length > 0 && !flags.yes && !(await isConfirmed(command, countText(plan.missing)))) {
    tell('Nothing was changed.')
    tellJson()
    return EXIT.failed
  }
  const done = (step: string) => {
    steps.push(step)
    tell(step)
  }
  try {
    await applyPlan(plan, { call, organization, done }, prune)
  } catch (error) {
    const outcome = `${steps.length === 0 ? 'Nothing was changed' : `${steps.length} changes were made`}. Apply the files again to make the others.`
    console.error(`tagwarden: ${messageOf(error)}\n${outcome}`)
    if (!(error instanceof FailedStep)) throw error
    return EXIT.failed
  } finally {
    tellJson()
  }
  if (isChanging) tell('Applied.')
  return 0
}

async function isConfirmed(command: Command, what: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError(`${command.name}: --prune would delete ${what}; add --yes to confirm`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`Delete ${what}? [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}

async function orMisuse(work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof FileFaults)) throw error
    for (const fault of error.faults) console.error(fault)
    console.error(
      `tagwarden: ${error.faults.length === 1 ? '1 error' : `${error.faults.length} errors`}; nothing was changed`,
    )
    return EXIT.misuse
  }
}

export const plan: Command = {
  name: 'plan',
  operands: 'FILE…',
  summary: 'Shows what applying configuration files would change.',
  flags: PLAN_FLAGS,
  run: (invocation) => orMisuse(() => run(plan, invocation, { isDryRun: true })),
}

export const apply: Command = {
  name: 'apply',
  operands: 'FILE…',
  summary: 'Creates and updates the items in configuration files, which `export` prints.',
  flags: {
    ...PLAN_FLAGS,
    'dry-run': { type: 'boolean', meaning: 'Only show what would change, like `plan`' },
    yes: { type: 'boolean', meaning: 'Delete without asking, for --prune' },
  },
  run: (invocation) => orMisuse(() => run(apply, invocation, { isDryRun: invocation.flags['dry-run'] === true })),
}
