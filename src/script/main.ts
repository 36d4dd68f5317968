import type { CaptureConfig } from '../capture/capture-config.ts'
import { startCapture } from './capture.ts'
import { randomId } from './visitor-session.ts'

/** The domain's configuration; inserted by the server. */
declare const CONFIG: CaptureConfig

/**
 * Symbols, so these properties don't appear when the window's properties are listed. All copies of this script share
 * them.
 */
const INSTALLED = Symbol.for('tagwarden.installed')
const SESSION = Symbol.for('tagwarden.session')

try {
  if (!Reflect.has(window, INSTALLED)) {
    Reflect.defineProperty(window, INSTALLED, { value: true })
    startCapture(window, CONFIG, sharedSession() ?? randomId())
  }
} catch {
  // Errors of this script must not reach the page.
}

/** Returns the first session id, shared by a page and its frames; null when the outermost window has another origin. */
function sharedSession(): string | null {
  try {
    const outermost: object = window.top ?? window
    // Has no effect when the property is already defined.
    Reflect.defineProperty(outermost, SESSION, { value: randomId() })
    return String(Reflect.get(outermost, SESSION))
  } catch {
    // The outermost window has another origin.
    return null
  }
}
