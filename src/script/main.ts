import type { CaptureConfig } from '../capture/capture-config.ts'
import { startCapture } from './capture.ts'
import { randomId } from './session.ts'

/** The domain's configuration; put in by the server. */
declare const CONFIG: CaptureConfig

/** No names, so that no list of the page's properties shows them; the same for every copy of this script. */
const INSTALLED = Symbol.for('tagwarden.installed')
const SESSION = Symbol.for('tagwarden.session')

try {
  if (!Reflect.has(window, INSTALLED)) {
    Reflect.defineProperty(window, INSTALLED, { value: true })
    startCapture(window, CONFIG, sharedSession() ?? randomId())
  }
} catch {
  // Nothing of ours may reach the page.
}

/** The id with which a page and its frames begin their session, whichever is first; null where they can't reach each other. */
function sharedSession(): string | null {
  try {
    const outermost: object = window.top ?? window
    // Fails when it is there already.
    Reflect.defineProperty(outermost, SESSION, { value: randomId() })
    return String(Reflect.get(outermost, SESSION))
  } catch {
    // Of another origin.
    return null
  }
}
