package javax.annotation;

/** The annotation on the generated classes, which Java 11 removed from its class library. */
public @interface Generated {
    String value();

    String comments();
}
