import type { CDPSession, Protocol } from 'puppeteer-core'
import type { Device } from './browsing.ts'

const DESKTOP = { width: 1280, height: 800, mobile: false }
const PHONE = { width: 390, height: 844, mobile: true }
const PHONE_PIXELS_PER_POINT = 3

/** What tells a page which device it is on. */
export interface Emulation {
  metrics: Protocol.Emulation.SetDeviceMetricsOverrideRequest
  userAgent: Protocol.Emulation.SetUserAgentOverrideRequest
}

/**
 * Returns how a device shows itself.
 *
 * @param ownUserAgent of the browser itself, of which the version and the system are taken
 * @param suffix added to the user agent after a blank; empty: nothing
 */
export function emulationOf(device: Device, ownUserAgent: string, suffix: string): Emulation {
  const { width, height, mobile = false } = device === 'desktop' ? DESKTOP : device === 'mobile' ? PHONE : device
  const version = /Chrome\/([\d.]+)/.exec(ownUserAgent)?.[1] ?? '0'
  const major = version.split('.', 1)[0] ?? '0'
  const brands = [
    { brand: 'Chromium', version: major },
    { brand: 'Not;A=Brand', version: '8' },
  ]
  const plain = mobile
    ? `Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Mobile Safari/537.36`
    : ownUserAgent.replace('HeadlessChrome/', 'Chrome/')
  return {
    metrics: { width, height, mobile, deviceScaleFactor: mobile ? PHONE_PIXELS_PER_POINT : 1 },
    userAgent: {
      userAgent: suffix === '' ? plain : `${plain} ${suffix}`,
      userAgentMetadata: {
        brands,
        fullVersionList: brands.map(({ brand }) => ({ brand, version: brand === 'Chromium' ? version : '8.0.0.0' })),
        platform: mobile ? 'Android' : 'Linux',
        platformVersion: mobile ? '10.0.0' : '',
        architecture: mobile ? '' : 'x86',
        model: mobile ? 'K' : '',
        mobile,
      },
    },
  }
}

/**
 * Sends what makes a target show itself as the device. A target that waits for the debugger carries it out before its first
 * request; one that has no screen, or is none, refuses what does not concern it.
 */
export function emulate(session: CDPSession, { metrics, userAgent }: Emulation): Promise<unknown> {
  const touch = { enabled: metrics.mobile, maxTouchPoints: metrics.mobile ? 5 : 1 }
  return Promise.allSettled([
    session.send('Emulation.setUserAgentOverride', userAgent),
    session.send('Emulation.setDeviceMetricsOverride', metrics),
    session.send('Emulation.setTouchEmulationEnabled', touch),
  ])
}
