import type { ErrorGuard } from './error-guard.ts'

/** Called after a call, with the result of the call; undefined if the call threw. */
export type After = (result: unknown, threw: boolean) => void
/** Called before a call. Must not change the arguments. */
export type Before = (self: unknown, args: readonly unknown[]) => After | undefined

// biome-ignore lint/complexity/noBannedTypes: any function of the page
type AnyFunction = Function

const always: (args: readonly unknown[]) => boolean = () => true

/**
 * Wraps a function so that `before` is called with the arguments of each call. Receiver, arguments, result, errors,
 * name and properties are unchanged:
 * https://tc39.es/ecma262/#sec-proxy-object-internal-methods-and-internal-slots-call-thisargument-argumentslist
 */
function watched(guard: ErrorGuard, original: AnyFunction, before: Before, concerns = always): AnyFunction {
  return new Proxy(original, {
    apply(target, self, args) {
      if (!concerns(args)) return Reflect.apply(target, self, args)
      const after = guard.run(() => before(self, args))
      let result: unknown
      try {
        result = Reflect.apply(target, self, args)
      } catch (error) {
        if (after) guard.run(() => after(undefined, true))
        throw error
      }
      if (after) guard.run(() => after(result, false))
      return result
    },
  })
}

/**
 * Wraps a method (`value`) or setter (`set`) of a prototype, or a function of the window. `concerns` is a quick filter
 * for functions that are called thousands of times. Does nothing if another script has locked the property. Requests
 * made through that property are then recorded from resource timing, without their bodies.
 */
export function wrapFunction(
  guard: ErrorGuard,
  owner: object,
  name: string,
  kind: 'value' | 'set',
  before: Before,
  concerns?: typeof always,
): void {
  const own = Object.getOwnPropertyDescriptor(owner, name)
  if (typeof own?.[kind] !== 'function') return
  // Unlike `Object.defineProperty`, this returns false for a locked property instead of throwing.
  Reflect.defineProperty(owner, name, { ...own, [kind]: watched(guard, own[kind], before, concerns) })
}
