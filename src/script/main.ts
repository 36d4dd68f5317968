import type { CaptureConfig } from '../capture/capture-config.ts'
import { startCapture } from './capture.ts'
import { randomId } from './session.ts'

/** The domain's configuration; inserted by the server. */
declare const CONFIG: CaptureConfig

/** Symbols, so that listing the window's properties does not show them; the same for every copy of this script. */
const INSTALLED = Symbol.for('tagwarden.installed')
const SESSION = Symbol.for('tagwarden.session')

try {
  if (!Reflect.has(window, INSTALLED)) {
    Reflect.defineProperty(window, INSTALLED, { value: true })
    startCapture(window, CONFIG, sharedSession() ?? randomId())
  }
} catch {
  // No error of this script may reach the page.
}

/**
 * Returns the first session id, shared by a page and its frames; null when the outermost window is of another origin.
 */
function sharedSession(): string | null {
  try {
    const outermost: object = window.top ?? window
    // Does nothing when it is defined already.
    Reflect.defineProperty(outermost, SESSION, { value: randomId() })
    return String(Reflect.get(outermost, SESSION))
  } catch {
    // The outermost window is of another origin.
    return null
  }
}
