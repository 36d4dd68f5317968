import { describe, expect, test } from 'bun:test'
import { AppError, atField, checkAll, type ErrorCode, messageOf, orNull } from './error.ts'

test.each<[string, unknown]>([
  ['broken', new Error('broken')],
  ['name: is taken', new AppError('conflict', 'name: is taken')],
  ['a string', 'a string'],
  ['undefined', undefined],
  ['null', null],
])('messageOf returns the message %p', (message, thrown) => {
  expect(messageOf(thrown)).toBe(message)
})

test('atField prefixes the field to an AppError, preserves its code, and rethrows other errors unchanged', () => {
  const refuse = () => {
    throw new AppError('rateLimited', 'too many requests', 5)
  }
  expect(atField('config.url', () => 1)).toBe(1)
  expect(() => atField('config.url', refuse)).toThrow(
    expect.objectContaining({ code: 'rateLimited', message: 'config.url: too many requests', retryAfterS: 5 }),
  )
  const bug = () => {
    throw new TypeError('not a function')
  }
  expect(() => atField('config.url', bug)).toThrow(new TypeError('not a function'))
})

describe('checkAll', () => {
  const refuse =
    (message: string, code: ErrorCode = 'invalid') =>
    () => {
      throw new AppError(code, message)
    }
  const thrownBy = (work: () => void) => {
    try {
      work()
    } catch (error) {
      return error as AppError
    }
    throw new Error('nothing was thrown')
  }

  test('collects the faults of all failed checks in the first error, one per field', () => {
    const { message, faults, code } = thrownBy(() =>
      checkAll([() => {}, refuse('a: is bad'), refuse('b: is bad'), refuse('a: is worse'), () => {}]),
    )
    expect([code, message, faults]).toEqual(['invalid', 'a: is bad', ['a: is bad', 'b: is bad']])
    checkAll([() => {}, () => {}])
  })

  test('preserves the path of nested faults', () => {
    const inner = () => {
      throw thrownBy(() => checkAll([refuse('a: is bad'), refuse('b: is bad')])).at('rule.')
    }
    const { faults } = thrownBy(() => checkAll([inner, refuse('days: is bad')]))
    expect(faults).toEqual(['rule.a: is bad', 'rule.b: is bad', 'days: is bad'])
    expect(thrownBy(() => checkAll([refuse('a: x'), refuse('b: y')])).at('rule.').faults).toEqual([
      'rule.a: x',
      'rule.b: y',
    ])
  })

  test('throws any other error unchanged, without collecting faults', () => {
    const bug = new TypeError('bug')
    expect(() =>
      checkAll([
        refuse('a: is bad'),
        () => {
          throw bug
        },
      ]),
    ).toThrow(bug)
    expect(thrownBy(() => checkAll([refuse('a: is bad'), refuse('no such domain', 'notFound')])).code).toBe('notFound')
  })
})

test('orNull returns null only for what is not found', () => {
  const failing = (code: ErrorCode) => () => {
    throw new AppError(code, 'no such domain')
  }
  expect(orNull(() => 7)).toBe(7)
  expect(orNull(failing('notFound'))).toBeNull()
  expect(() => orNull(failing('conflict'))).toThrow(new AppError('conflict', 'no such domain'))
})
