import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Command, helpOf, type Invocation, readInvocation, required, UsageError } from './command.ts'

const paint: Command = {
  name: 'paint',
  summary: 'Paints a wall.',
  flags: {
    colour: { type: 'string', value: 'NAME', meaning: 'Colour of the paint' },
    twice: { type: 'boolean', meaning: 'Paint it again' },
  },
  run: async () => 0,
}
const paintAll: Command = { ...paint, name: 'paint all', operands: 'WALL…' }
const read = (command: Command, ...args: string[]): Omit<Invocation, 'env'> => {
  const { flags, names } = readInvocation(command, args, {})
  return { flags: { ...flags }, names }
}

describe('the arguments of a command', () => {
  test.each<[string[], Invocation['flags']]>([
    [[], {}],
    [['--colour', 'red'], { colour: 'red' }],
    [['--colour=red', '--twice'], { colour: 'red', twice: true }],
    [['--colour='], { colour: '' }],
    [['--colour=--twice'], { colour: '--twice' }],
    [['--colour', 'red', '--colour', 'blue'], { colour: 'blue' }],
  ])('are parsed: %j', (args, flags) => {
    expect(read(paint, ...args)).toEqual({ flags, names: [] })
  })

  test('may be positional if the command has operands', () => {
    expect(read(paintAll, 'north', '--twice', 'south')).toEqual({ flags: { twice: true }, names: ['north', 'south'] })
    expect(read(paintAll, '--', '--twice')).toEqual({ flags: {}, names: ['--twice'] })
  })

  test.each<[string[], string]>([
    [['north'], 'paint: unexpected argument "north"'],
    [['--color', 'red'], "paint: Unknown option '--color'"],
    [['-c'], "paint: Unknown option '-c'"],
    [['--colour'], 'paint: Option '],
    [['--colour', '--twice'], 'paint: Option '],
    [['--twice=yes'], 'paint: Option '],
  ])('cause a one-line usage error: %j', (args, message) => {
    const attempt = () => read(paint, ...args)
    expect(attempt).toThrow(UsageError)
    expect(attempt).toThrow(message)
    expect(attempt).toThrow(/^[^\n]+$/)
  })

  test('never cause an error other than `UsageError`', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (args) => {
        try {
          read(paintAll, ...args)
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError)
        }
      }),
    )
  })
})

test.each<[Invocation['flags']]>([[{}], [{ colour: '' }], [{ colour: true }], [{ twice: true }]])(
  'an error names the required flag that is missing from %j',
  (flags) => {
    expect(() => required(paint, { flags, names: [], env: {} }, 'colour')).toThrow(
      new UsageError('paint: --colour is missing'),
    )
  },
)

test('the value of a required flag is returned', () => {
  expect(required(paint, { flags: { colour: 'red' }, names: [], env: {} }, 'colour')).toBe('red')
})

test('the help lists all flags and operands of the command', () => {
  expect(helpOf(paintAll)).toBe(
    [
      'usage: tagwarden paint all [options] WALL…',
      '',
      'Paints a wall.',
      '',
      '  --colour NAME                Colour of the paint',
      '  --twice                      Paint it again',
    ].join('\n'),
  )
  expect(helpOf({ ...paint, flags: {} })).toBe('usage: tagwarden paint\n\nPaints a wall.')
})
