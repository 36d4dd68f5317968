// What ExampleApp.swift uses of UIKit, for a compiler without the SDK of iOS.
// https://developer.apple.com/documentation/uikit/uiapplication

@_exported import Foundation

@MainActor open class UIResponder {
    public required init() {}
}

public struct UIBackgroundTaskIdentifier: Sendable {
    public static let invalid = UIBackgroundTaskIdentifier()
}

@MainActor public protocol UIApplicationDelegate: AnyObject {
    init()
    func applicationDidEnterBackground(_ application: UIApplication)
}

extension UIApplicationDelegate {
    public static func main() { _ = Self() }
}

open class UIApplication: UIResponder {
    public static let shared = UIApplication()

    public func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { .invalid }

    public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}
