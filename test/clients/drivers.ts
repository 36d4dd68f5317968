import { copyFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * Programs that use the clients of the setup guide. Each reads commands from its standard input: `track <from> <to>`
 * queues one event for each number, `flush` sends the queue, and `close` closes the client and exits. After each
 * command, the program prints the name of the command.
 */

interface Driver {
  /** File name of the client in the setup guide. */
  client: string
  system: string
  /** Requirements missing on this machine; null when all are met. */
  missing: string | null
  /** Returns the command that runs the driver. `folder` contains the files of the setup guide. */
  build(folder: string): Promise<string[]>
}

const SOURCES = join(import.meta.dir, 'drivers')

const missingOf = (...programs: string[]): string | null =>
  programs.filter((program) => Bun.which(program) === null).join(' and ') || null

/** Returns a driver that an interpreter runs in the client's folder. */
function interpreted(client: string, program: string, driver: string): Driver {
  return {
    client,
    system: 'server',
    missing: missingOf(program),
    async build(folder) {
      copyFileSync(join(SOURCES, driver), join(folder, driver))
      return [program, join(folder, driver)]
    },
  }
}

const KOTLIN: Driver = {
  client: 'Tagwarden.kt',
  system: 'mobile_a',
  missing: missingOf('kotlinc', 'java'),
  async build(folder) {
    const jar = join(folder, 'driver.jar')
    const sources = ['Driver.kt', 'android.kt', 'bundle.kt'].map((name) => join(SOURCES, name))
    const own = ['Tagwarden.kt', 'ExampleApplication.kt'].map((name) => join(folder, name))
    await compile('kotlinc', ...own, ...sources, '-include-runtime', '-d', jar)
    return ['java', '-jar', jar]
  },
}

const SWIFT: Driver = {
  client: 'Tagwarden.swift',
  system: 'mobile_b',
  missing: missingOf('swiftc'),
  async build(folder) {
    // Swift allows top-level statements only in a file with this name.
    copyFileSync(join(SOURCES, 'driver.swift'), join(folder, 'main.swift'))
    copyFileSync(join(SOURCES, 'UIKit.swift'), join(folder, 'UIKit.swift'))
    const [client, example, main] = ['Tagwarden.swift', 'ExampleApp.swift', 'main.swift'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    const module = join(folder, 'UIKit.swiftmodule')
    await compile(
      'swiftc',
      '-emit-module',
      '-parse-as-library',
      '-module-name',
      'UIKit',
      '-emit-module-path',
      module,
      join(folder, 'UIKit.swift'),
    )
    await compile('swiftc', '-typecheck', '-parse-as-library', '-warnings-as-errors', '-I', folder, client, example)
    const program = join(folder, 'driver')
    await compile('swiftc', '-warnings-as-errors', '-o', program, client, main)
    return [program]
  },
}

async function compile(...command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' })
  const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${out}${errors}`)
}

export const DRIVERS: readonly Driver[] = [
  interpreted('tagwarden.mjs', 'node', 'driver.mjs'),
  interpreted('tagwarden.py', 'python3', 'driver.py'),
  KOTLIN,
  SWIFT,
]

/** Starts a driver. */
export function startDriver(command: string[], folder: string) {
  const child = Bun.spawn([...command, folder], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
  const errors = new Response(child.stderr).text()
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  let buffered = ''
  async function nextLine(): Promise<string> {
    for (;;) {
      const end = buffered.indexOf('\n')
      if (end >= 0) {
        const line = buffered.slice(0, end)
        buffered = buffered.slice(end + 1)
        return line
      }
      const { value, done } = await lines.read()
      if (done) throw new Error(`the driver exited: ${await errors}`)
      buffered += value
    }
  }
  return {
    async command(line: string) {
      child.stdin.write(`${line}\n`)
      child.stdin.flush()
      const answer = await nextLine()
      if (answer !== line.split(' ')[0]) throw new Error(`${line}: ${answer}`)
    },
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
    /** Closes the driver's input. Returns the exit code and the log. */
    async ended() {
      await child.stdin.end()
      return { code: await child.exited, errors: await errors }
    },
  }
}
