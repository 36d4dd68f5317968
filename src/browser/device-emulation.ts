import type { CDPSession, Protocol } from 'puppeteer-core'
import type { Device } from './browsing.ts'
import type { Header } from './traffic.ts'

const DESKTOP = { width: 1280, height: 800, mobile: false }
const PHONE = { width: 390, height: 844, mobile: true }
const PHONE_PIXELS_PER_POINT = 3

/** Properties by which a page recognises a device. */
export interface Emulation {
  metrics: Protocol.Emulation.SetDeviceMetricsOverrideRequest
  userAgent: Protocol.Emulation.SetUserAgentOverrideRequest
}

/**
 * Returns the properties that a device reports to pages.
 * @param version version of the browser: `153.0.8010.0`
 * @param suffix appended to the user agent after a space; empty to append nothing
 */
export function emulationOf(device: Device, version: string, suffix: string): Emulation {
  const { width, height, mobile = false } = device === 'desktop' ? DESKTOP : device === 'mobile' ? PHONE : device
  const major = version.split('.', 1)[0] ?? '0'
  const brands = [
    { brand: 'Chromium', version: major },
    { brand: 'Not;A=Brand', version: '8' },
  ]
  // Like Chrome, reveals no further details of the version and the operating system.
  const [system, kind] = mobile ? ['Linux; Android 10; K', 'Mobile Safari'] : ['X11; Linux x86_64', 'Safari']
  const plain = `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 ${kind}/537.36`
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
 * Emulates the device in a target. If the target is waiting for the debugger, the emulation takes effect before its
 * first request. Targets without a screen reject the commands that do not apply to them. These rejections are ignored.
 */
export function emulate(session: CDPSession, { metrics, userAgent }: Emulation): Promise<unknown> {
  const touch = { enabled: metrics.mobile, maxTouchPoints: metrics.mobile ? 5 : 1 }
  return Promise.allSettled([
    session.send('Emulation.setUserAgentOverride', userAgent),
    session.send('Emulation.setDeviceMetricsOverride', metrics),
    session.send('Emulation.setTouchEmulationEnabled', touch),
  ])
}

/** Returns the request's headers as the device would send them. */
export function headersOf(
  { userAgent, userAgentMetadata }: Emulation['userAgent'],
  headers: Readonly<Record<string, string>>,
): Header[] {
  const { brands = [], mobile = false, platform = '' } = userAgentMetadata ?? {}
  const own: Record<string, string> = {
    'user-agent': userAgent,
    'sec-ch-ua': brands.map(({ brand, version }) => `"${brand}";v="${version}"`).join(', '),
    'sec-ch-ua-mobile': mobile ? '?1' : '?0',
    'sec-ch-ua-platform': `"${platform}"`,
  }
  return Object.entries(headers).map(([name, value]) => ({ name, value: own[name.toLowerCase()] ?? value }))
}
