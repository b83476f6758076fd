package javax.annotation;

/** The annotation on the generated classes. Java 11 removed it from its library. */
public @interface Generated {
    String value();

    String comments();
}
