import { describe, expect, test } from 'bun:test'
import { runProgram } from '../../test/run-program.ts'

/** Typed words, and words that must be offered or not. */
const CASES: [typed: string[], offered: string[], missing: string[]][] = [
  [[''], ['serve', 'import', 'doctor'], ['judge', '--data']],
  [['im'], ['import'], ['serve']],
  [['import', ''], ['har', 'events'], ['serve']],
  [['import', 'har', '--t'], ['--token'], ['--url']],
  [['serve', '--data', 'x', '--l'], ['--listen'], ['--data']],
]

/** Runs a shell script with the completion script of that shell before it. */
async function ask(shell: string, script: string): Promise<string[]> {
  const { stdout } = await runProgram(['completion', shell])
  const { exitCode, stdout: output, stderr } = Bun.spawnSync([shell, '-c', `${stdout}\n${script}`])
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
  return output.toString().split(/\s+/)
}

const SCRIPTS: Record<string, (typed: readonly string[]) => string> = {
  bash: (typed) => `COMP_WORDS=(tagwarden ${typed.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${typed.length}; _tagwarden; echo "\${COMPREPLY[@]}"`,
  fish: (typed) => `complete -C 'tagwarden ${typed.join(' ')}' | string replace -r '\\t.*' ''; true`,
}

describe.each(Object.keys(SCRIPTS))('the completion of %s', (shell) => {
  test.skipIf(Bun.which(shell) === null).each(CASES)('for %j offers %j and not %j', async (typed, offered, missing) => {
    const words = await ask(shell, SCRIPTS[shell]?.(typed) ?? '')
    for (const word of offered) expect(words).toContain(word)
    for (const word of missing) expect(words).not.toContain(word)
  })
})

test.skipIf(Bun.which('zsh') === null)('the completion of zsh is a valid script with all commands', async () => {
  const script = `_describe() { print -r -- \${(P)2} }; words=(tagwarden ''); CURRENT=2; _tagwarden`
  const { stdout } = await runProgram(['completion', 'zsh'])
  const { stdout: output } = Bun.spawnSync(['zsh', '-fc', `compdef() { : }\n${stdout}\n${script}`])
  expect(output.toString()).toContain('serve:')
})

test('an unknown shell is a usage error', async () => {
  for (const args of [[], ['tcsh'], ['bash', 'zsh']]) {
    const { code, stderr } = await runProgram(['completion', ...args])
    expect([code, stderr]).toEqual([2, 'tagwarden: completion: the shell must be one of bash, zsh, fish\n'])
  }
})
