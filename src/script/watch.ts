import type { Guard } from './guard.ts'

/** What to do when the call is over: with what it answered, or with nothing when it threw. */
export type After = (result: unknown, threw: boolean) => void
/** Looks at a call before it is made; must not change the arguments. */
export type Before = (self: unknown, args: readonly unknown[]) => After | undefined

// biome-ignore lint/complexity/noBannedTypes: any function of the page
type AnyFunction = Function

const always: (args: readonly unknown[]) => boolean = () => true

/**
 * The function with a look at each call. Receiver, arguments, result, what it throws, its name and all its properties
 * stay as they are: https://tc39.es/ecma262/#sec-proxy-object-internal-methods-and-internal-slots-call-thisargument-argumentslist
 */
function watched(guard: Guard, original: AnyFunction, before: Before, concerns = always): AnyFunction {
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
 * Watches a method of a prototype, or a function of the window; of calls that happen thousands of times only those that
 * `concerns` names, by what it can tell at once. Where another script locked it nothing happens: resource
 * timing shows such requests, without their bodies.
 */
export function watchMethod(
  guard: Guard,
  owner: object | undefined,
  name: string,
  before: Before,
  concerns?: typeof always,
): void {
  const own = owner && Object.getOwnPropertyDescriptor(owner, name)
  if (!owner || typeof own?.value !== 'function') return
  // Unlike `defineProperty` it answers false for what is locked.
  Reflect.defineProperty(owner, name, { ...own, value: watched(guard, own.value, before, concerns) })
}

/** Watches what is set: `after` gets the object whose property was set. */
export function watchSetter(
  guard: Guard,
  owner: object | undefined,
  name: string,
  after: (self: unknown) => void,
): void {
  const own = owner && Object.getOwnPropertyDescriptor(owner, name)
  if (!owner || !own?.set) return
  const set = watched(guard, own.set, (self) => () => after(self)) as (value: unknown) => void
  Reflect.defineProperty(owner, name, { ...own, set })
}
